/** The topic of a text, in words that fit into sentences. */
export interface Topic {
  /** One of them, such as `travel claim`. */
  readonly thing: string
  readonly things: string
  /** Who looks after it, such as `the finance desk`. */
  readonly owner: string
  /** The program it is kept in. */
  readonly system: string
  /** Who says yes, such as `the line manager`. */
  readonly approver: string
  /** What goes wrong if nobody looks, such as `a payment made twice`. */
  readonly risk: string
}

/** Numbers between 0 and 1, the same ones for the same seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

type Words = Topic & {
  readonly time: string
  readonly amount: string
  readonly person: string
  readonly place: string
  readonly evidence: string
  readonly count: string
}

const TIMES = [
  'two working days',
  'the same afternoon',
  'five working days',
  'one hour',
  'a calendar week',
  'the end of the month',
  '48 hours',
  'ten days',
]
const AMOUNTS = ['200 EUR', '1,500 EUR', '5,000 EUR', 'a tenth of the yearly budget', '750 EUR', '12,000 EUR']
const PERSONS = [
  'a new colleague',
  'a contractor',
  'somebody on parental leave',
  'a supplier',
  'a visiting auditor',
  'a team lead',
  'a part-time employee',
  'a former employee',
]
const PLACES = [
  'Hamburg',
  'the Lisbon office',
  'the warehouse in Leipzig',
  'a home office abroad',
  'the Singapore branch',
  'the data center in Frankfurt',
]
const EVIDENCE = [
  'the signed form',
  'a dated screenshot',
  'the original receipt',
  'the ticket number',
  'a note of the phone call',
  'the export from the system',
  'the minutes of the meeting',
]
const COUNTS = ['three', 'two', 'four', 'six', 'five']

const OPENINGS: readonly ((w: Words) => string)[] = [
  (w) => `This page says how ${w.things} are handled, from the first request to the day the file is closed.`,
  (w) => `Everybody meets a ${w.thing} sooner or later, and most questions about ${w.things} are the same few.`,
  (w) =>
    `${upper(w.owner)} looks after ${w.things}; the rules below were last agreed with the works council in spring.`,
  (w) =>
    `A ${w.thing} begins in ${w.system} and nowhere else: what is agreed by mail or in the corridor does not count.`,
  (w) =>
    `Anyone who deals with ${w.things} for the first time should read this page once to its end, and the cases at the bottom twice.`,
]

const RULES: readonly ((w: Words) => string)[] = [
  (w) => `Every ${w.thing} is entered in ${w.system} within ${w.time}, with ${w.evidence} attached.`,
  (w) => `Above ${w.amount}, ${w.approver} has to agree before anything is promised to anyone outside the company.`,
  (w) => `If ${w.person} is concerned, ${w.owner} is told first, because other periods of notice apply.`,
  (w) => `What ${w.approver} has refused can be asked for again once, and only with something new to say.`,
  (w) =>
    `Entries that stay open for longer than ${w.time} are closed by ${w.owner}; the person who made them is told and can reopen them.`,
  (w) =>
    `The most common fault is ${w.risk}, and nearly always it comes from copying an older ${w.thing} instead of beginning a new one.`,
  (w) => `In ${w.place} local law asks for a second signature, so plan ${w.time} more than elsewhere.`,
  (w) =>
    `Keep ${w.evidence} for ${w.count} years; ${w.system} does so by itself if it was uploaded, and nobody does if it was only mailed.`,
  (w) => `Nobody decides about a ${w.thing} of their own. Where ${w.approver} is concerned, their deputy signs.`,
  (w) =>
    `${upper(w.owner)} answers questions about ${w.things} on weekdays; in urgent cases call, and write down afterwards what was agreed.`,
  (w) =>
    `A ${w.thing} may be split only if both parts would have been reasonable by themselves; splitting to stay below ${w.amount} is a breach.`,
  (w) => `Where two rules seem to contradict each other, the stricter one holds until ${w.owner} has decided.`,
  (w) =>
    `Figures are given without tax and in euros; amounts in other currencies use the rate of the day on which ${w.evidence} was issued.`,
  (w) =>
    `Names of people do not belong in the title of a ${w.thing}: titles are visible to everyone who can open ${w.system}.`,
  (w) =>
    `If the reason for a ${w.thing} falls away, withdraw it. One that is merely left alone looks like ${w.risk} to the next audit.`,
  (w) => `Once a quarter ${w.owner} draws ${w.count} ${w.things} at random and checks them from beginning to end.`,
  (w) => `Reminders go out after ${w.time} and again a week later; after the second one ${w.approver} is copied in.`,
  (w) => `For ${w.things} that concern more than one team, the team that pays is the one that asks.`,
  (w) =>
    `Changes after approval are new requests, however small they are: ${w.approver} has agreed to a figure, not to an idea.`,
  (w) =>
    `An assistant may prepare a ${w.thing} but not submit it; the person who is answerable has to press the button.`,
  (w) =>
    `When in doubt whether something is a ${w.thing} at all, treat it as one. Taking it back is easier than explaining ${w.risk}.`,
  (w) => `Deadlines end at noon in the time zone of ${w.place}, which has surprised people more than once.`,
  (w) =>
    `Paper is accepted only from outside; it is scanned on the day it arrives and filed under the number that ${w.system} gives.`,
  () => `Exceptions are possible and are written down: who asked, who agreed, and until when the exception holds.`,
]

const STEPS: readonly ((w: Words) => string)[] = [
  (w) => `Open ${w.system}, choose "New ${w.thing}" and fill in the cost center before anything else.`,
  (w) => `Attach ${w.evidence}; without it the form cannot be sent.`,
  () => `Say in one or two sentences why it is needed and what happens if the answer is no.`,
  (w) => `Pick ${w.approver} from the list. If the list is empty, ${w.owner} has to assign one first.`,
  (w) => `Wait for the confirmation, which comes within ${w.time}; do not send the form a second time.`,
  (w) => `Check the amount against ${w.evidence} once more as soon as the number has been given out.`,
  (w) => `Tell everyone who is waiting for it, and put the number of the ${w.thing} into the message.`,
  () => `Close the entry when the work is done. If it is partly done, say so in a note and leave it open.`,
]

const CASES: readonly ((w: Words) => string)[] = [
  (w) =>
    `${upper(w.person)} asks for a ${w.thing} on the last day of the month: enter it with the day of the request, not with the day of the approval.`,
  (w) => `${w.system} is down: write to ${w.owner} with ${w.evidence}, and enter everything as soon as it is back.`,
  (w) =>
    `${upper(w.approver)} is away for more than ${w.time}: the deputy named in ${w.system} decides, and no one else.`,
  () =>
    `The amount turns out higher than approved: up to a tenth more is accepted with a note, anything above is a new request.`,
  (w) => `Somebody finds ${w.risk}: stop, change nothing, and tell ${w.owner} on the same day.`,
  (w) => `A ${w.thing} was made for the wrong team: it is not moved but withdrawn, and made again by the right one.`,
]

/** About this many words of a company handbook on a topic: paragraphs, a procedure and a few cases. The same for the same seed. */
export function prose(topic: Topic, words: number, seed: number): string {
  const random = randomNumbers(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const fill = (): Words => ({
    ...topic,
    time: pick(TIMES),
    amount: pick(AMOUNTS),
    person: pick(PERSONS),
    place: pick(PLACES),
    evidence: pick(EVIDENCE),
    count: pick(COUNTS),
  })
  const say = (one: (w: Words) => string): string => withArticles(one(fill()))
  const rules = endless(RULES, random)
  const parts: string[] = []
  const paragraph = (first: readonly string[]): string =>
    [...first, ...Array.from({ length: 2 + Math.floor(random() * 3) }, () => say(rules()))].join(' ')

  parts.push(paragraph([say(pick(OPENINGS))]))
  if (words > 300) {
    parts.push(
      `${withArticles(`How to make a ${topic.thing}:`)}\n\n${numbered(shuffled(STEPS, random).slice(0, 5).map(say))}`,
    )
  }
  if (words > 500) parts.push(`Cases that come up:\n\n${bulleted(shuffled(CASES, random).slice(0, 4).map(say))}`)
  while (wordCount(parts) < words) parts.push(paragraph([]))
  return parts.join('\n\n')
}

function wordCount(parts: readonly string[]): number {
  return parts.reduce((sum, text) => sum + text.split(/\s+/).length, 0)
}

function withArticles(text: string): string {
  return text.replaceAll(/\b([Aa]) (?=[aeio])/g, '$1n ')
}

export function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const numbered = (lines: readonly string[]): string => lines.map((line, i) => `${i + 1}. ${line}`).join('\n')
const bulleted = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n')

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

/** Returns every item once before repeating one. */
function endless<T>(list: readonly T[], random: () => number): () => T {
  let left: T[] = []
  return () => {
    if (left.length === 0) left = shuffled(list, random)
    return left.pop()!
  }
}
