const LONGEST_TEXT = 126
const LONGEST_WORD = 100
const ACCENTS = /\p{Mn}/gu
/** A word, a punctuation mark, or a character of a script without spaces. */
const TOKEN = /\p{scx=Han}|[\p{L}\p{N}\p{M}]+?(?=\p{scx=Han}|[^\p{L}\p{N}\p{M}]|$)|[^\s\p{L}\p{N}\p{M}\p{C}]/gu

/** Splits a text into BERT's word pieces (WordPiece, longest first), as numbers. */
export function createWordPieces(tokenizer: string): (text: string) => readonly number[] {
  const { model } = JSON.parse(tokenizer) as { model: { vocab: Record<string, number> } }
  const ids = new Map(Object.entries(model.vocab))
  const [start, end, unknown] = ['[CLS]', '[SEP]', '[UNK]'].map((piece) => ids.get(piece) ?? 0)
  const known = new Map<string, readonly number[]>()
  const splitWord = (word: string): readonly number[] => {
    const pieces: number[] = []
    for (let from = 0; from < word.length;) {
      let to = word.length
      let id: number | undefined
      for (; to > from; to--) {
        id = ids.get((from > 0 ? '##' : '') + word.slice(from, to))
        if (id !== undefined) break
      }
      if (id === undefined || word.length > LONGEST_WORD) return [unknown!]
      pieces.push(id)
      from = to
    }
    return pieces
  }
  return (text) => {
    const pieces: number[] = [start!]
    for (const [word] of text.toLowerCase().normalize('NFD').replaceAll(ACCENTS, '').matchAll(TOKEN)) {
      let ofWord = known.get(word)
      if (ofWord === undefined) known.set(word, (ofWord = splitWord(word)))
      pieces.push(...ofWord)
      if (pieces.length > LONGEST_TEXT) break
    }
    return [...pieces.slice(0, LONGEST_TEXT + 1), end!]
  }
}
