import { Migration0001Foundation } from './0001-foundation.ts'
import { Migration0002Audit } from './0002-audit.ts'
import { Migration0008Idempotency } from './0008-idempotency.ts'

/** Every migration in the order in which it is applied. Append; never edit one that has been released. */
export const migrations = [
  { name: '0001_foundation', class: Migration0001Foundation },
  { name: '0002_audit', class: Migration0002Audit },
  { name: '0008_idempotency', class: Migration0008Idempotency },
]
