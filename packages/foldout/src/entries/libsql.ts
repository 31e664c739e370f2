/**
 * Sessions in one SQLite file.
 *
 * @module foldout/libsql
 */

export { createLibsqlStore, type LibsqlStoreOptions } from '../session/stores/libsql/libsql-store.ts'
