export { createLibsqlStore, type LibsqlStoreOptions } from '../session/stores/libsql/libsql-store.ts'
