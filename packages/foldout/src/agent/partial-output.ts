/**
 * A value of which any part may still be missing.
 *
 * @example
 * ```ts
 * const answer: PartialOutput<{ city: string; days: { sunny: boolean }[] }> = { days: [{}] }
 * ```
 */
export type PartialOutput<Value> = Value extends readonly (infer Item)[]
  ? readonly PartialOutput<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]?: PartialOutput<Value[Key]> }
    : Value
