import { Migration0001Foundation } from './0001-foundation.ts'
import { Migration0002Audit } from './0002-audit.ts'
import { Migration0006SessionActs } from './0006-session-acts.ts'

/** Every migration in the order in which it is applied. Append; never edit one that has been released. */
export const migrations = [
  { name: '0001_foundation', class: Migration0001Foundation },
  { name: '0002_audit', class: Migration0002Audit },
  { name: '0006_session_acts', class: Migration0006SessionActs },
]
