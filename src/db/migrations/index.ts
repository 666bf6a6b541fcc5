import { Migration0001Foundation } from './0001-foundation.ts'
import { Migration0002Audit } from './0002-audit.ts'
import { Migration0003Billing } from './0003-billing.ts'
import { Migration0004People } from './0004-people.ts'
import { Migration0005Datasets } from './0005-datasets.ts'
import { Migration0006SessionActs } from './0006-session-acts.ts'
import { Migration0007Support } from './0007-support.ts'
import { Migration0008Idempotency } from './0008-idempotency.ts'
import { Migration0009Driving } from './0009-driving.ts'
import { Migration0011RightsAndDraining } from './0011-rights-and-draining.ts'

/** Every migration in the order in which it is applied. Append; never edit one that has been released. */
export const migrations = [
  { name: '0001_foundation', class: Migration0001Foundation },
  { name: '0002_audit', class: Migration0002Audit },
  { name: '0003_billing', class: Migration0003Billing },
  { name: '0004_people', class: Migration0004People },
  { name: '0005_datasets', class: Migration0005Datasets },
  { name: '0006_session_acts', class: Migration0006SessionActs },
  { name: '0007_support', class: Migration0007Support },
  { name: '0008_idempotency', class: Migration0008Idempotency },
  { name: '0009_driving', class: Migration0009Driving },
  { name: '0011_rights_and_draining', class: Migration0011RightsAndDraining },
]
