/** Splits texts into the pieces of words that a BERT model knows. */
export interface WordPieces {
  /** The ids of a text's pieces, between those that mark its beginning and its end; at most `most` in all. */
  encode(text: string, most: number): number[]
}

const BEGINNING = '[CLS]'
const END = '[SEP]'
const UNKNOWN = '[UNK]'
/** What continues a word, as the vocabulary writes it. */
const CONTINUED = '##'
/** Longer words are unknown. */
const MAX_WORD_CHARACTERS = 100
/** Every piece stands for at least one character, and a long text repeats what it says. */
const CHARACTERS_OF_PIECE = 16

/** A run of letters and digits, or one character that stands alone: punctuation, a symbol or a Chinese character. */
const WORD = /\p{Script=Han}|[^\s\p{P}\p{S}\p{Script=Han}]+|[\p{P}\p{S}]/gu
/** BERT counts the signs of ASCII as punctuation and other symbols as letters, which hardly matters here. */
const ACCENTS = /\p{Mn}+/gu
const INVISIBLE = /[^\P{C}\t\n\r]+/gu

/** Reads a vocabulary, from pieces to their ids. */
export function createWordPieces(vocabulary: ReadonlyMap<string, number>): WordPieces {
  const getId = (piece: string): number => vocabulary.get(piece) ?? 0
  const [beginning, end, unknown] = [getId(BEGINNING), getId(END), getId(UNKNOWN)]

  /** The longest piece that the vocabulary has, again and again, or one unknown piece for the whole word. */
  const splitWord = (word: string): readonly number[] => {
    if (word.length > MAX_WORD_CHARACTERS) return [unknown]
    const ids: number[] = []
    let start = 0
    while (start < word.length) {
      let to = word.length
      let id: number | undefined
      while (to > start) {
        id = vocabulary.get((start > 0 ? CONTINUED : '') + word.slice(start, to))
        if (id !== undefined) break
        to--
      }
      if (id === undefined) return [unknown]
      ids.push(id)
      start = to
    }
    return ids
  }

  return {
    encode(text, most) {
      const plain = text
        .slice(0, most * CHARACTERS_OF_PIECE)
        .replaceAll(INVISIBLE, '')
        .toLowerCase()
        .normalize('NFD')
        .replaceAll(ACCENTS, '')
      const ids = [beginning]
      for (const [word] of plain.matchAll(WORD)) {
        ids.push(...splitWord(word))
        if (ids.length >= most) break
      }
      return [...ids.slice(0, most - 1), end]
    },
  }
}
