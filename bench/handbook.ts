import { definePrompt, defineSection, defineTool, ok, type AnySection } from 'foldout'
import { filesSection } from 'foldout/files'
import type { SimulatedRun } from 'foldout/telemetry'
import { prose, randomNumbers, upper } from './prose.ts'

interface Chapter {
  readonly title: string
  readonly owner: string
  readonly system: string
  readonly approver: string
  readonly risk: string
  /** One article each. */
  readonly things: readonly string[]
}

const chapter = (
  title: string,
  [owner, system, approver, risk]: readonly [string, string, string, string],
  things: string,
): Chapter => ({ title, owner, system, approver, risk, things: things.split(', ') })

const CHAPTERS: readonly Chapter[] = [
  chapter(
    'Working time',
    ['the people team', 'Timely', 'the line manager', 'hours that are paid twice'],
    'time sheet, shift swap, holiday request, sick note, flexible day, business trip, rest period, night shift, sabbatical, part-time request',
  ),
  chapter(
    'Pay',
    ['the payroll desk', 'Paydesk', 'the head of payroll', 'a payment made twice'],
    'salary change, bonus letter, payslip question, tax card, pension plan, staff loan, relocation grant, referral reward, final settlement, currency choice',
  ),
  chapter(
    'Travel',
    ['the travel desk', 'Wayfare', 'the budget owner', 'a booking nobody uses'],
    'flight booking, rail ticket, hotel stay, car rental, visa letter, travel claim, daily allowance, group journey, travel insurance case, private extension',
  ),
  chapter(
    'Purchasing',
    ['the buying office', 'Procura', 'the head of purchasing', 'a contract nobody has read'],
    'purchase order, supplier check, framework contract, price comparison, goods receipt, supplier complaint, leasing deal, sample order, software license, construction job',
  ),
  chapter(
    'Finance',
    ['the finance desk', 'Ledgerline', 'the controller', 'a figure in the wrong year'],
    'supplier invoice, customer credit, cost transfer, cash box, month-end closing, budget change, provision, bank guarantee, foreign payment, dunning letter',
  ),
  chapter(
    'Security',
    ['the security team', 'Bastion', 'the security officer', 'a door left open'],
    'password reset, key card, security incident, visitor badge, lost device, phishing report, penetration test, privileged account, camera request, background check',
  ),
  chapter(
    'Privacy',
    ['the privacy office', 'Recital', 'the data protection officer', 'personal data in the wrong hands'],
    'data request, deletion request, processing record, data breach, consent form, foreign transfer, retention rule, photo permission, processor contract, privacy impact study',
  ),
  chapter(
    'Devices',
    ['the service desk', 'Toolshed', 'the head of IT', 'a machine without updates'],
    'laptop order, phone contract, monitor swap, printer fault, docking station, device return, repair case, spare part, remote wipe, headset request',
  ),
  chapter(
    'Software',
    ['the platform team', 'Catalog', 'the product owner', 'a program nobody looks after'],
    'software request, trial license, browser plug-in, database access, service account, code repository, certificate, domain name, mailing list, shared mailbox',
  ),
  chapter(
    'Releases',
    ['the release team', 'Convoy', 'the release manager', 'a change nobody can undo'],
    'release plan, rollback, feature switch, hotfix, schema change, load test, change freeze, canary release, post-mortem, deprecation notice',
  ),
  chapter(
    'Support',
    ['the support desk', 'Harbour Desk', 'the duty manager', 'a customer who is told two things'],
    'support ticket, refund case, goodwill credit, escalation, callback, service report, outage notice, bug report, feature wish, satisfaction survey',
  ),
  chapter(
    'Sales',
    ['the sales desk', 'Pipeline', 'the regional director', 'a promise nobody can keep'],
    'price quote, discount, tender, partner deal, trial account, contract renewal, cancellation, reference visit, sales forecast, customer handover',
  ),
  chapter(
    'Marketing',
    ['the brand team', 'Palette', 'the head of marketing', 'a claim that is not true'],
    'press release, logo permission, campaign, trade fair stand, newsletter, case study, social media post, sponsorship, raffle, translation job',
  ),
  chapter(
    'Legal',
    ['the legal team', 'Paragraph', 'the general counsel', 'a deadline that passes unseen'],
    'non-disclosure agreement, signing power, court letter, trade mark, license question, warranty case, settlement, board resolution, sanctions check, contract archive',
  ),
  chapter(
    'Buildings',
    ['the facilities team', 'Keystone', 'the site manager', 'a blocked way out'],
    'desk booking, meeting room, moving day, cleaning complaint, heating fault, fire drill, parking space, bicycle space, plant order, key copy',
  ),
  chapter(
    'Safety',
    ['the safety officer', 'Safeguard', 'the plant manager', 'a fall from a height'],
    'risk assessment, first-aid case, near miss, protective suit, hazardous substance, ladder check, forklift permit, safety briefing, eye test, pregnancy notice',
  ),
  chapter(
    'Hiring',
    ['the recruiting team', 'Threshold', 'the hiring manager', 'a question that must not be asked'],
    'job opening, job interview, work sample, job offer, rejection, referral, trial day, work permit, contract draft, first-day plan',
  ),
  chapter(
    'Learning',
    ['the learning team', 'Lectern', 'the team lead', 'a course that nobody finishes'],
    'training budget, language course, conference visit, mentoring pair, certificate exam, internal talk, book order, study day, onboarding course, yearly review',
  ),
]

const key = (text: string): string => text.toLowerCase().replaceAll(' ', '-')
const plural = (thing: string): string => {
  if (thing.endsWith('y') && !/[aeo]y$/.test(thing)) return `${thing.slice(0, -1)}ies`
  return thing.endsWith('s') ? `${thing}es` : `${thing}s`
}
const article = (thing: string): string => (/^[aeiou]/.test(thing) ? `an ${thing}` : `a ${thing}`)

/** The first article of every chapter has a tool that starts its process. */
function startTool(thing: string, system: string) {
  return defineTool({
    name: `start_${thing.replaceAll(/[ -]/g, '_')}`,
    description: `Begins ${article(thing)} in ${system} for an employee and gives back its number. Nothing is sent before the employee has confirmed it.`,
    params: {
      type: 'object',
      properties: {
        employee: { type: 'string', description: 'Staff number, such as E-10482.' },
        reason: { type: 'string', description: 'Why it is needed, in one sentence.' },
        needed_by: { type: 'string', format: 'date', description: 'The day it is needed by, if there is one.' },
        cost_center: { type: 'string', description: "The cost center that pays. Default: the employee's own." },
      },
      required: ['employee', 'reason'],
    },
    execute: () => ok('Begun.'),
  })
}

function chapterSection(parts: Chapter, index: number): AnySection {
  const random = randomNumbers(index + 1)
  const articles = parts.things.map((thing, i) => {
    const things = plural(thing)
    const topic = { ...parts, thing, things }
    // Between 150 and 1,200 words, mostly in the lower half.
    const words = Math.round(150 + 1_000 * random() ** 1.6)
    return defineSection({
      key: key(thing),
      title: upper(things),
      template: prose(topic, words, 1_000 + index * 100 + i),
      summary: `How ${things} are requested, approved and closed, and what to do in the cases that come up.`,
      visibility: 'summary',
      tools: i === 0 ? [startTool(thing, parts.system)] : [],
    })
  })
  return defineSection({
    key: key(parts.title),
    title: parts.title,
    template: `${upper(parts.owner)} looks after this chapter. Its program is ${parts.system}, and ${parts.approver} has the last word.`,
    children: articles,
  })
}

const people = defineTool({
  name: 'find_person',
  description:
    'Finds people of the company by name, team or task, with their staff number, their office and their line manager.',
  params: {
    type: 'object',
    properties: { query: { type: 'string', description: 'A name, a team or a task.' } },
    required: ['query'],
  },
  execute: () => ok('Found.'),
})
const ticket = defineTool({
  name: 'open_ticket',
  description: 'Hands a question to the team that looks after a chapter. Use it when the handbook does not answer it.',
  params: {
    type: 'object',
    properties: {
      team: { type: 'string', description: 'The team as the chapter names it.' },
      question: { type: 'string', description: 'The question, with all that the employee has said about it.' },
    },
    required: ['team', 'question'],
  },
  execute: () => ok('Opened.'),
})

const about = defineSection({
  key: 'about',
  title: 'About this handbook',
  template: `You answer the questions of the company's employees from its handbook. Open the articles that a question touches before you answer, and name them in the answer. Where two articles disagree, say so. What the handbook does not say you do not make up: offer to open a ticket. Write in the language of the question, in short paragraphs, and give the number of every form, amount and deadline exactly as the article has it.`,
  tools: [people, ticket],
})

/** 200 sections: two about the work itself, and 18 chapters of 10 articles that are folded. */
export const handbook = definePrompt({
  ns: 'bench',
  key: 'handbook',
  sections: [about, filesSection({ readOnly: true }), ...CHAPTERS.map(chapterSection)],
}).bind()

const call = (name: string, argumentsTokens: number, resultTokens: number) => ({
  calls: [{ name, argumentsTokens, resultTokens }],
})

/** Questions from five employees, and what it takes to answer them. */
export const handbookRuns: readonly SimulatedRun[] = [
  {
    prompt: handbook,
    input:
      'I am moving to the Lisbon office in March, part-time. What do I have to hand in, and does the company pay for the move?',
    steps: [
      { opens: ['working-time.part-time-request', 'pay.relocation-grant'] },
      { opens: ['buildings.moving-day', 'pay.tax-card'] },
      call('find_person', 12, 140),
      { answers: 420 },
    ],
  },
  {
    prompt: handbook,
    input: 'My laptop was stolen on the train to Leipzig this morning. There were customer files on it.',
    steps: [
      { opens: ['security.lost-device', 'privacy.data-breach', 'devices.remote-wipe'] },
      call('find_person', 14, 160),
      { opens: ['devices.laptop-order'] },
      call('start_laptop_order', 48, 60),
      call('open_ticket', 130, 40),
      { answers: 380 },
    ],
  },
  {
    prompt: handbook,
    input: 'We want to give a big customer 15 % and a reference visit. Who has to agree, and what goes into the quote?',
    steps: [
      { opens: ['sales.discount', 'sales.price-quote'] },
      { opens: ['sales.reference-visit'] },
      call('start_price_quote', 52, 60),
      { answers: 350 },
    ],
  },
  {
    prompt: handbook,
    input:
      'I need a contractor for six weeks, with a machine, a key card and access to the customer database. Where do I begin?',
    steps: [
      { opens: ['purchasing.framework-contract', 'purchasing.purchase-order'] },
      { opens: ['security.key-card', 'security.background-check'] },
      { opens: ['software.database-access', 'privacy.processor-contract'] },
      call('find_person', 16, 220),
      call('start_purchase_order', 60, 60),
      call('open_ticket', 150, 40),
      { answers: 620 },
    ],
  },
  {
    prompt: handbook,
    input: 'Last night a release broke the import for two customers. It is rolled back. What is left to do?',
    steps: [
      { opens: ['releases.rollback', 'releases.post-mortem'] },
      { opens: ['support.outage-notice'] },
      { opens: ['support.goodwill-credit'] },
      call('find_person', 15, 180),
      { answers: 460 },
    ],
  },
]
