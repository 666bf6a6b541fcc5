import { Migration0001Foundation } from './0001-foundation.ts'
import { Migration0002Audit } from './0002-audit.ts'
import { Migration0003Billing } from './0003-billing.ts'
import { Migration0004People } from './0004-people.ts'
import { Migration0005Datasets } from './0005-datasets.ts'
import { Migration0006SessionActs } from './0006-session-acts.ts'
import { Migration0007Support } from './0007-support.ts'
import { Migration0008Idempotency } from './0008-idempotency.ts'
import { Migration0009Driving } from './0009-driving.ts'
import { Migration0010Notifications } from './0010-notifications.ts'
import { Migration0011RightsAndDraining } from './0011-rights-and-draining.ts'
import { Migration0012Payments } from './0012-payments.ts'
import { Migration0013Payouts } from './0013-payouts.ts'
import { Migration0014ProviderEvents } from './0014-provider-events.ts'
import { Migration0015InvoiceCollections } from './0015-invoice-collections.ts'
import { Migration0016StopPresses } from './0016-stop-presses.ts'
import { Migration0017AuditFilters } from './0017-audit-filters.ts'
import { Migration0018OutboundEvents } from './0018-outbound-events.ts'
import { Migration0019SessionPlanning } from './0019-session-planning.ts'
import { Migration0020MoneyRecords } from './0020-money-records.ts'
import { Migration0021RobotLogs } from './0021-robot-logs.ts'
import { Migration0025TicketLimits } from './0025-ticket-limits.ts'

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
  { name: '0010_notifications', class: Migration0010Notifications },
  { name: '0011_rights_and_draining', class: Migration0011RightsAndDraining },
  { name: '0012_payments', class: Migration0012Payments },
  { name: '0013_payouts', class: Migration0013Payouts },
  { name: '0014_provider_events', class: Migration0014ProviderEvents },
  { name: '0015_invoice_collections', class: Migration0015InvoiceCollections },
  { name: '0016_stop_presses', class: Migration0016StopPresses },
  { name: '0017_audit_filters', class: Migration0017AuditFilters },
  { name: '0018_outbound_events', class: Migration0018OutboundEvents },
  { name: '0025_ticket_limits', class: Migration0025TicketLimits },
  { name: '0021_robot_logs', class: Migration0021RobotLogs },
  { name: '0019_session_planning', class: Migration0019SessionPlanning },
  { name: '0020_money_records', class: Migration0020MoneyRecords },
]
