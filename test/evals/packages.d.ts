// Installed only for the tests of this folder.
declare module 'evalite' {
  export function evalite(name: string, options: object): void
}
