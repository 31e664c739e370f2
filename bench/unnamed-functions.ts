/**
 * Call this before what is measured is imported. tsx compiles every named closure to a call that defines its name anew each
 * time it is made, which costs more than making it; the package that is published has no such calls. They capture
 * `Object.defineProperty` when their module is loaded, and from here on get one that leaves names alone.
 */
export function leaveFunctionsUnnamed(): void {
  const { defineProperty } = Object
  Object.defineProperty = <T>(target: T, key: PropertyKey, attributes: PropertyDescriptor & ThisType<unknown>): T =>
    key === 'name' && typeof target === 'function' ? target : defineProperty(target, key, attributes)
}
