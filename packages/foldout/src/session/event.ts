/**
 * Something that happened, as plain data, so a session can be stored and resumed.
 *
 * @example
 * ```ts
 * const event: Event = cart.events.added('tea')
 * event // => { type: 'cart/added', payload: 'tea' }
 * ```
 */
export interface Event<Type extends string = string, Payload = unknown> {
  readonly type: Type
  readonly payload: Payload
}

/**
 * Creates events of one type. Reducers and listeners recognize the events by `type`.
 *
 * @example
 * ```ts
 * const shipped: EventCreator<'order/shipped', { readonly id: string }> = defineEvent<{ readonly id: string }>()('order/shipped')
 * shipped({ id: 'A-1' }).type // => 'order/shipped'
 * ```
 */
export interface EventCreator<Type extends string = string, Payload = never> {
  (
    ...args: [Payload] extends [void] ? [] : undefined extends Payload ? [payload?: Payload] : [payload: Payload]
  ): Event<Type, Payload>
  readonly type: Type
}

/**
 * Declares an event that does not belong to a slice. The payload's type is passed in a separate call because TypeScript
 * infers either all type arguments of a call or none.
 *
 * @example
 * ```ts
 * const orderShipped = defineEvent<{ readonly id: string }>()('order/shipped')
 * session.dispatch(orderShipped({ id: 'A-1' }))
 * ```
 */
export function defineEvent<Payload = void>() {
  return <const Type extends string>(type: Type): EventCreator<Type, Payload> =>
    Object.freeze(
      Object.assign((...args: unknown[]) => ({ type, payload: args[0] }), { type }),
    ) as unknown as EventCreator<Type, Payload>
}
