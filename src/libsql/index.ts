export { libsqlStore, type LibsqlStoreOptions } from './libsql-store.ts'
