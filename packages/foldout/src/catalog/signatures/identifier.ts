/**
 * Words that cannot name a function in a module, that would shadow built-ins of code or types, or that have a meaning as a property
 * of an object.
 */
const RESERVED = new Set(
  (
    'break case catch class const continue debugger default delete do else enum export extends false finally for function ' +
    'if import in instanceof new null return super switch this throw true try typeof var void while with implements ' +
    'interface let package private protected public static yield await eval arguments undefined NaN Infinity globalThis ' +
    'Promise Object Array String Number Boolean Symbol Record Function Error JSON Math Date Map Set require exports module ' +
    'console constructor prototype __proto__ then'
  ).split(' '),
)

const START = /^[\p{L}_$]/u
/**
 * One letter, U+2E2F, is punctuation in programs. Outside the basic plane, engines and compilers differ in what they accept as a
 * letter.
 */
const OTHERS = /[^\p{L}\p{N}_$]|[^\p{ID_Continue}$]|[\u{10000}-\u{10FFFF}]/gu

/**
 * Turns the name of a tool, a server or a type into an identifier: `get-weather` → `get_weather`. It is never one of `taken`; a name
 * that is already taken gets a number.
 */
export function toIdentifier(name: string, taken: ReadonlySet<string> = new Set()): string {
  const words = name.normalize('NFC').replace(OTHERS, '_')
  const started = START.test(words) ? words : `_${words}`
  const wanted = RESERVED.has(started) ? `${started}_` : started
  let identifier = wanted
  for (let i = 2; taken.has(identifier); i++) identifier = `${wanted}_${i}`
  return identifier
}
