import postgres from 'pg'
import type { PostgresPool } from 'foldout/postgres'

export const pg = postgres
export declare const pool: PostgresPool
