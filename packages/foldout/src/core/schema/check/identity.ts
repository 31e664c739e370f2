/** Assigns equal keys to equal JSON values. Visits each object and array once, without recursion. */
export class Identities {
  private readonly known = new Map<object, string>()
  private readonly numbers = new Map<string, number>()

  getKey(value: unknown): string {
    if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value)}`
    const open: object[] = [value]
    for (let next = open.at(-1); next; next = open.at(-1)) {
      const inside = Object.values(next).filter(
        (inner): inner is object => typeof inner === 'object' && inner !== null && !this.known.has(inner),
      )
      if (inside.length > 0 && !this.known.has(next)) {
        // Marked first, so a value that contains itself terminates.
        this.known.set(next, 'cycle')
        open.push(...inside.slice(0, MAX_PUSHED))
        if (inside.length > MAX_PUSHED) for (const one of inside.slice(MAX_PUSHED)) open.push(one)
      } else {
        open.pop()
        this.known.set(next, this.number(next))
      }
    }
    return this.known.get(value) ?? ''
  }

  private number(value: object): string {
    const shape = this.getShape(value)
    let number = this.numbers.get(shape)
    if (number === undefined) this.numbers.set(shape, (number = this.numbers.size))
    return `object ${number}`
  }

  private getShape(value: object): string {
    if (Array.isArray(value)) return `[${value.map((inner) => JSON.stringify(this.shallowKey(inner))).join()}]`
    const fields = Object.entries(value).map(
      ([name, inner]) => `${JSON.stringify(name)}:${JSON.stringify(this.shallowKey(inner))}`,
    )
    return `{${fields.sort().join()}}`
  }

  private shallowKey(value: unknown): string {
    if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value)}`
    return this.known.get(value) ?? ''
  }
}

// JavaScript engines limit the number of arguments of a call.
const MAX_PUSHED = 1_000
