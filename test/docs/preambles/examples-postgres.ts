import postgres from 'pg'
import type { PostgresPool } from 'foldout-fleet'

export const pg = postgres
export declare const pool: PostgresPool
