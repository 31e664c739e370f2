/** Verbs and nouns that end like a participle. */
const NOT_PARTICIPLES = new Set([
  'bleed',
  'breed',
  'bring',
  'cling',
  'embed',
  'exceed',
  'feed',
  'fling',
  'heed',
  'need',
  'ping',
  'proceed',
  'ring',
  'seed',
  'shed',
  'shred',
  'sing',
  'speed',
  'spring',
  'sting',
  'string',
  'succeed',
  'swing',
  'weed',
  'wing',
])
/** Irregular participles, except words that are also verbs or nouns and may name a function. */
const IRREGULAR = new Set([
  'begun',
  'bound',
  'brought',
  'built',
  'chosen',
  'done',
  'drawn',
  'driven',
  'fallen',
  'forgotten',
  'found',
  'frozen',
  'given',
  'gone',
  'grown',
  'heard',
  'held',
  'hidden',
  'kept',
  'known',
  'learnt',
  'lost',
  'made',
  'meant',
  'met',
  'paid',
  'said',
  'seen',
  'sent',
  'shown',
  'spoken',
  'sworn',
  'taken',
  'taught',
  'thrown',
  'told',
  'torn',
  'understood',
  'woken',
  'worn',
  'written',
])

/** JSON Schema keywords, after which the functions that check them are named. */
const KEYWORDS = new Set(['allOf', 'anyOf', 'oneOf'])

/** `keysOf`, `textOf`: a name that does not say what the function does. `isRecordOf` is allowed, because it asks a question. */
export function endsInOf(name: string): boolean {
  return /[a-z\d]Of$/.test(name) && !KEYWORDS.has(name) && !/^(is|has)[A-Z]/.test(name)
}

/** `exposed`, `halted`, `followingLines`, `hiddenTools`: a name that begins with a participle, not with a verb. */
export function isParticiple(name: string): boolean {
  const first = (/^[a-z\d]+/.exec(name) ?? [''])[0]
  if (IRREGULAR.has(first)) return true
  return /^.{2,}(ed|ing)$/.test(first) && !NOT_PARTICIPLES.has(first)
}
