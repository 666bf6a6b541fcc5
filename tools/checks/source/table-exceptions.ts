/** A table that a second module writes, with the reason why that is better than a call or an event. */
export interface WriterException {
  readonly table: string
  readonly writer: string
  readonly reason: string
}

export const writerExceptions: readonly WriterException[] = [
  {
    table: 'outbound_events',
    writer: 'core',
    reason: 'the outbox relay moves published rows here in one statement, so that none is lost or doubled',
  },
  {
    table: 'sessions',
    writer: 'billing',
    reason: 'columns of the charge: a conditional update of the row is the guard against charging twice',
  },
  {
    table: 'control_intervals',
    writer: 'billing',
    reason: 'columns of the charge, in the transaction that charges the session',
  },
  {
    table: 'sessions',
    writer: 'datasets',
    reason: 'counters of recorded episodes, in the statement that stores the episodes',
  },
  {
    table: 'organization_members',
    writer: 'provisioning',
    reason: 'one statement makes the memberships of many provisioned people what their groups say',
  },
  {
    table: 'organization_members',
    writer: 'identity',
    reason:
      'a service account is a user and a member in one transaction; organizations cannot import identity',
  },
  {
    table: 'organizations',
    writer: 'billing',
    reason: 'the column plan_id: billing assigns plans',
  },
  {
    table: 'organizations',
    writer: 'provisioning',
    reason: 'the column session_hours, in the transaction that saves the settings of single sign-on',
  },
  {
    table: 'users',
    writer: 'notifications',
    reason:
      'columns of the inbox: unread count, read position, subscription to mail; updated with the notifications',
  },
  {
    table: 'invoices',
    writer: 'payments',
    reason: 'marks an invoice as paid in the transaction that books the payment',
  },
  {
    table: 'client_profiles',
    writer: 'payments',
    reason: 'the column of the Stripe customer: only payments knows it',
  },
  {
    table: 'operator_profiles',
    writer: 'payments',
    reason: 'the column of the Stripe account: only payments knows it',
  },
  {
    table: 'robots',
    writer: 'presence',
    reason: 'one statement changes the presence and the status of many robots, so that both always agree',
  },
  {
    table: 'robots',
    writer: 'sessions',
    reason: 'a session claims and releases its robot with a conditional update in its own transaction',
  },
  {
    table: 'robot_presence',
    writer: 'robots',
    reason: 'registration creates the row with the robot; the battery worker marks the warning it sent',
  },
]

/** Helpers that receive the table as a parameter, with the reason. */
export const dynamicTables: Readonly<Record<string, string>> = {
  'src/modules/identity/account/account-deletion.service.ts':
    'the deletion of an account is one transaction over every table that the table of personal data names',
  'src/core/exports/exports.ts': 'exports of sessions and of datasets; each owner passes its table',
  'src/core/mail/mail-store.ts':
    'the queue of notification mails and contact messages; each owner passes its table',
}
