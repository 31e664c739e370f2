import { DBOS as Dbos } from '@dbos-inc/dbos-sdk'
import type { PostgresPool } from 'foldout-fleet'
import postgres from 'pg'

export const DBOS = Dbos
export const pg = postgres
export declare const pool: PostgresPool
