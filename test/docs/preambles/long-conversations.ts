export { adapter, bound } from './README.ts'
