import { getConstructionPlans } from 'pg-boss'
import { JOB_SCHEMA } from './boss.ts'

/**
 * Returns the SQL that installs the schema of pg-boss, for a migration, which already runs in a transaction. A later
 * version of pg-boss needs another migration with its `getMigrationPlans`; the start fails when the versions differ.
 */
export const jobSchemaSql = (): string =>
  getConstructionPlans(JOB_SCHEMA)
    .replace(/^\s*BEGIN;/, '')
    .replace(/COMMIT;\s*$/, '')
