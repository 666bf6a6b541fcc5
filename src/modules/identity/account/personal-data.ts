import { type RawBuilder, sql } from 'kysely'
import type { Person, PersonalData } from './personal-data-part.ts'

// The one table of what the platform holds about a person. An export is written from it, a deletion follows it, and docs/data.md
// describes it; a test finds tables that refer to users or organizations and are missing here.

/** The name of everybody who deleted the account. */
export const DELETED_NAME = 'Deleted user'
/** The text of a message whose sender deleted the account. */
export const DELETED_TEXT = '(deleted)'

const UNTIL_DELETION = 'until you change it or delete the account'
const LAW = 'ten years, as tax law demands'
const NO_TIME_LIMIT = 'as long as the record of the session'

const column =
  (name: string) =>
  ({ id }: Person): RawBuilder<boolean> =>
    sql<boolean>`${sql.ref(name)} = ${id}::uuid`
const ofUser = column('user_id')
const byAddress = ({ email }: Person) => sql<boolean>`lower(email collate "C") = lower(${email} collate "C")`
const either =
  (first: string, second: string) =>
  ({ id }: Person) =>
    sql<boolean>`(${sql.ref(first)} = ${id}::uuid or ${sql.ref(second)} = ${id}::uuid)`
const text = (words: string): readonly string[] => words.split(/\s+/)
const byId = (columns: string) => ({ key: 'id', type: 'uuid', columns: text(columns) }) as const
const byUser = (columns: string) => ({ key: 'user_id', type: 'uuid', columns: text(columns) }) as const

/** Messages in stored copies of events for the other participants of the person's sessions. */
const inStreamsOfOthers = ({ id }: Person) => sql`
  select client_id from sessions where operator_id = ${id}::uuid
  union select operator_id from sessions where client_id = ${id}::uuid
  union select client_id from sessions where id in (select session_id from messages where sender_id = ${id}::uuid)
  union select operator_id from sessions where id in (select session_id from messages where sender_id = ${id}::uuid)`
const withoutMessage = sql`data = jsonb_set(jsonb_set(data, '{data,body}', to_jsonb(${DELETED_TEXT}::text)),
  '{data,sender_name}', to_jsonb(${DELETED_NAME}::text))`
const isMessageOf = ({ id }: Person) =>
  sql<boolean>`type = 'chat.message' and data #>> '{data,sender_id}' = ${id}::text`

/** In the order of a deletion: triggers accept the name of a pseudonym in sessions once the user has it. */
export const personalData: readonly PersonalData[] = [
  {
    part: 'profile',
    table: 'users',
    of: column('id'),
    contains: 'name, address, picture, sign-in, roles, a suspension and its reason',
    kept: UNTIL_DELETION,
    why: 'to sign you in, and to show others who drives or owns a robot',
    exported: byId(
      `id issuer subject email email_verified display_name avatar_url is_client is_operator removed_roles
       notification_preferences suspended_at suspension_reason created_at`,
    ),
    deletion: {
      set: () => sql`issuer = 'deleted', subject = gen_random_uuid()::text, email = null, email_verified = false,
        display_name = ${DELETED_NAME}, display_name_chosen = false, avatar_url = null, is_client = false, is_operator = false,
        removed_roles = '{}', notification_preferences = '{}', notification_seq = 0, notification_unread = 0,
        suspended_at = now(), suspension_reason = 'The account was deleted.', deleted_at = now()`,
      text: `the row stays with a random id as "${DELETED_NAME}", without address, picture, sign-in and roles`,
    },
  },
  {
    part: 'avatar',
    table: 'avatars',
    of: ofUser,
    contains: 'the picture that you uploaded',
    kept: UNTIL_DELETION,
    why: 'to show it beside your name',
    exported: byUser('name created_at'),
    deletion: { delete: true },
  },
  {
    part: 'organizations',
    table: 'organizations',
    of: column('id'),
    contains: 'your personal organization: its name, which is yours, and its pricing plan',
    kept: 'as long as invoices refer to it',
    why: 'it owns your robots and gets your invoices',
    exported: byId('id name kind plan_id created_at'),
    deletion: { set: () => sql`plan_id = null, session_hours = null`, text: `renamed to "${DELETED_NAME}"` },
  },
  {
    part: 'memberships',
    table: 'organization_members',
    of: ofUser,
    contains: 'the organizations that you are a member of, your role and groups',
    kept: 'until you leave',
    why: 'to decide what you may do',
    exported: {
      key: 'organization_id',
      type: 'uuid',
      columns: ['organization_id', 'role', 'group_ids', 'created_at'],
    },
    deletion: {
      delete: true,
      text: 'deleted; your personal organization, a pseudonym too, loses its other members',
      // An organization always has an owner.
      where: ({ id }) => sql<boolean>`(user_id = ${id}::uuid) <> (organization_id = ${id}::uuid)`,
    },
  },
  {
    part: 'groups',
    table: 'organization_groups',
    of: column('organization_id'),
    contains: 'groups of robots in your personal organization',
    kept: UNTIL_DELETION,
    why: 'to order your robots',
    exported: byId('id name created_at'),
    deletion: { delete: true },
  },
  {
    part: 'invitations',
    table: 'organization_invitations',
    of: (person) =>
      sql<boolean>`(organization_id = ${person.id}::uuid or invited_by_id = ${person.id}::uuid or ${byAddress(person)})`,
    contains: 'invitations to your address, and those that you sent; without the secret',
    kept: 'until they are accepted or expire',
    why: 'to let people join an organization',
    exported: byId('id organization_id role created_at expires_at accepted_at'),
    deletion: { delete: true },
  },
  {
    part: 'provisioning',
    table: 'scim_users',
    of: ({ id, email }) =>
      sql<boolean>`(user_id = ${id}::uuid or lower(user_name collate "C") = lower(${email} collate "C"))`,
    contains: 'what the identity provider of an organization says about you, if it manages its members',
    kept: 'until the organization removes you, or you delete the account',
    why: 'to give you the role that the organization has chosen',
    exported: byId(
      'id organization_id external_id user_name active attributes role claimed_groups created_at updated_at',
    ),
    deletion: { delete: true },
  },
  {
    part: 'organization_sign_ins',
    table: 'organization_identities',
    of: ofUser,
    contains: 'who you are at the identity provider of an organization',
    kept: 'until the membership, the domain or the single sign-on of the organization ends',
    why: 'to recognise you when you sign in with it',
    exported: byId('id organization_id subject created_at'),
    deletion: { delete: true },
  },
  {
    part: 'organization_sessions',
    table: 'sign_in_sessions',
    of: ({ id }) =>
      sql<boolean>`identity_id in (select id from organization_identities where user_id = ${id}::uuid)`,
    contains: 'when you signed in with the identity provider of an organization',
    kept: 'until you sign in after it has expired, with the identity at the latest',
    why: 'to end the sign-in after the time that the organization has chosen',
    exported: byId('id created_at expires_at'),
    deletion: { delete: true },
  },
  {
    part: 'grants',
    table: 'data_grants',
    of: either('organization_id', 'to_organization_id'),
    contains: 'access to data of robots that your personal organization has given or got',
    kept: 'until it is revoked or expires',
    why: 'you or another owner wanted it',
    exported: byId('id organization_id robot_id to_organization_id scopes created_at expires_at'),
    deletion: { delete: true },
  },
  {
    part: 'api_keys',
    table: 'api_keys',
    of: either('user_id', 'organization_id'),
    contains: 'your keys: name, beginning and end, use; never the key, of which only a hash is stored',
    kept: UNTIL_DELETION,
    why: 'to let your programs in',
    exported: byId(
      'id organization_id name prefix last4 scopes created_at last_used_at last_used_address expires_at revoked_at',
    ),
    deletion: { delete: true },
  },
  {
    part: 'last_seen',
    table: 'user_presence',
    of: ofUser,
    contains: 'when you were last connected to the hub',
    kept: UNTIL_DELETION,
    why: 'to decide whether a notification is mailed',
    exported: byUser('seen_at'),
    deletion: { delete: true },
  },
  {
    part: 'tickets',
    table: 'ticket_counters',
    of: ofUser,
    contains: 'how many tickets for the gateway you have got',
    kept: UNTIL_DELETION,
    why: 'a new ticket ends older ones',
    exported: byUser('issued'),
    deletion: { delete: true },
  },
  {
    part: 'client_profile',
    table: 'client_profiles',
    of: column('organization_id'),
    contains: 'company, contact address, phone, country, VAT number',
    kept: UNTIL_DELETION,
    why: 'for invoices and questions about your robots',
    exported: {
      key: 'organization_id',
      type: 'uuid',
      columns: text('company_name contact_email phone country vat_id payment_method_at created_at'),
    },
    deletion: { delete: true },
  },
  {
    part: 'operator_profile',
    table: 'operator_profiles',
    of: ofUser,
    contains: 'headline, description, country, time zone, languages',
    kept: UNTIL_DELETION,
    why: 'to let owners know who drives',
    exported: byUser('headline bio country timezone languages payout_ready_at created_at'),
    deletion: { delete: true },
  },
  {
    part: 'schedule',
    table: 'operator_schedules',
    of: ofUser,
    contains: 'the hours at which you drive',
    kept: UNTIL_DELETION,
    why: 'to plan sessions',
    exported: byUser('timezone slots updated_at'),
    deletion: { delete: true },
  },
  {
    part: 'certifications',
    table: 'certifications',
    of: column('operator_id'),
    contains: 'types of robots that you may drive, and the decisions',
    kept: UNTIL_DELETION,
    why: 'robots can require them',
    exported: byId('id robot_type status note reason requested_at decided_at'),
    deletion: { delete: true },
  },
  {
    part: 'robots',
    table: 'robots',
    of: column('owner_id'),
    contains: 'robots of your personal organization, also removed ones',
    kept: 'as long as sessions refer to them',
    why: 'to connect and show them',
    exported: byId(
      `id name robot_type hardware_id stream_url tags notes operator_notes status recording recording_days created_at deleted_at`,
    ),
    deletion: {
      set: () => sql`notes = null, operator_notes = null, stream_url = '', tags = '{}'`,
      text: 'removed robots lose notes, tags and addresses; an account with other robots is not deleted',
    },
  },
  {
    part: 'sessions_operated',
    table: 'sessions',
    of: column('operator_id'),
    contains: 'sessions that you drove: robot, times, earnings, rating and its comment',
    kept: LAW,
    why: 'they are what invoices and earnings are made of, and the record of who moved a machine',
    exported: byId(
      `id recorded_robot_name recorded_robot_type recorded_operator_name status scheduled_for started_at ended_at
       end_reason billable_minutes operator_earnings_cents own_operator rating rating_comment created_at`,
    ),
    deletion: {
      set: () => sql`recorded_operator_name = ${DELETED_NAME}, rating_comment = null`,
      text: `your name becomes "${DELETED_NAME}"; the comment of the rating is deleted`,
    },
  },
  {
    part: 'sessions_of_robots',
    table: 'sessions',
    of: column('client_id'),
    contains:
      'sessions with robots of your personal organization: times, charge, your rating and its comment',
    kept: LAW,
    why: 'they are what invoices and earnings are made of, and the record of who moved a machine',
    exported: byId(
      `id robot_id recorded_robot_name recorded_robot_type recorded_client_name status scheduled_for started_at ended_at
       end_reason billable_minutes client_charge_cents own_operator rating rating_comment created_at`,
    ),
    deletion: {
      set: () => sql`recorded_client_name = ${DELETED_NAME}, rating_comment = null`,
      text: `your name becomes "${DELETED_NAME}"; the comment of the rating is deleted`,
    },
  },
  {
    part: 'session_log',
    table: 'session_events',
    of: ({ id }) =>
      sql<boolean>`session_id in (select id from sessions where operator_id = ${id}::uuid or client_id = ${id}::uuid)`,
    contains: 'starts, pauses, stops and ends of your sessions with the id of who caused them and the reason',
    kept: NO_TIME_LIMIT,
    why: 'what happened with a machine must stay known: stops, and who cleared them',
    exported: 'it is in `GET /api/sessions/{id}/events`',
    deletion: {
      where: ({ id }) =>
        sql<boolean>`(type = 'session.rated' and session_id in (
          select id from sessions where operator_id = ${id}::uuid or client_id = ${id}::uuid))`,
      set: () => sql`data = data - 'comment'`,
      text: 'the comment of a rating is deleted',
    },
  },
  {
    part: 'control_held',
    table: 'control_intervals',
    of: ofUser,
    contains: 'when you controlled a robot in a session, in what part, and what that cost and earned',
    kept: LAW,
    why: 'it is what charges and earnings are made of, and the record of who moved a machine',
    exported: 'it is in `GET /api/sessions/{id}/events`',
    deletion: 'kept',
  },
  {
    part: 'control_participants',
    table: 'control_participants',
    of: ofUser,
    contains: 'sessions in which you controlled the robot, were offered control or asked for it',
    kept: NO_TIME_LIMIT,
    why: 'to show you these sessions',
    exported: byId('id session_id created_at'),
    deletion: 'kept',
  },
  {
    part: 'control_requests',
    table: 'control_requests',
    of: either('from_id', 'to_id'),
    contains: 'offers of control and requests for it, with the reason',
    kept: NO_TIME_LIMIT,
    why: 'the other participants read them',
    exported: byId('id session_id kind reason created_at'),
    deletion: {
      where: column('from_id'),
      set: () => sql`reason = null`,
      text: 'the reasons that you wrote are deleted',
    },
  },
  {
    part: 'messages',
    table: 'messages',
    of: column('sender_id'),
    contains: 'chat messages that you sent',
    kept: NO_TIME_LIMIT,
    why: 'the other participants read them',
    exported: byId('id session_id seq sender_name sender_role body created_at'),
    deletion: {
      set: () => sql`body = ${DELETED_TEXT}, sender_name = ${DELETED_NAME}, client_message_id = null`,
      text: `the text becomes "${DELETED_TEXT}" and your name "${DELETED_NAME}"`,
    },
  },
  {
    part: 'messages_in_streams',
    table: 'user_events',
    of: (person) => sql<boolean>`(user_id in (${inStreamsOfOthers(person)}) and ${isMessageOf(person)})`,
    contains: 'copies of your chat messages for programs of the other participants',
    kept: '14 days',
    why: 'their programs read them',
    exported: 'they are in `messages`',
    deletion: { set: () => withoutMessage, text: 'as `messages`' },
  },
  {
    part: 'messages_in_deliveries',
    table: 'webhook_deliveries',
    of: (person) =>
      sql<boolean>`(webhook_id in (select id from webhooks where user_id in (${inStreamsOfOthers(person)})) and ${isMessageOf(person)})`,
    contains: 'copies of your chat messages for webhooks of the other participants',
    kept: '7 days after the delivery',
    why: 'their programs receive them',
    exported: 'they are in `messages`',
    deletion: { set: () => withoutMessage, text: 'as `messages`' },
  },
  {
    part: 'invoices',
    table: 'invoices',
    of: column('client_id'),
    contains: 'your invoices with the name, country and VAT number that they were issued to',
    kept: LAW,
    why: 'an issued invoice must not change',
    exported: byId(
      `id month status currency total_cents session_count minutes billing_name billing_country billing_vat_id issued_at
       paid_at created_at`,
    ),
    deletion: 'kept',
  },
  {
    part: 'ledger',
    table: 'ledger_entries',
    of: ofUser,
    contains: 'what you owed, paid, earned and were paid',
    kept: LAW,
    why: 'the books must balance',
    exported: {
      key: 'id',
      type: 'bigint',
      columns: text('id posting_id account amount_cents session_id invoice_id payout_id kind at'),
    },
    deletion: 'kept',
  },
  {
    part: 'payouts',
    table: 'payouts',
    of: column('operator_id'),
    contains: 'amounts that were transferred to you, and the id of the account at Stripe',
    kept: LAW,
    why: 'the books must balance',
    exported: byId('id amount_cents currency destination status transfer_id failure created_at settled_at'),
    deletion: 'kept',
  },
  {
    part: 'stripe_accounts',
    table: 'stripe_accounts',
    of: ofUser,
    contains: 'the ids of your accounts at Stripe; the request to create them contains name and address',
    kept: LAW,
    why: 'payments refer to them',
    exported: { key: 'kind', type: 'text', columns: ['kind', 'stripe_id', 'request', 'created_at'] },
    deletion: { set: () => sql`request = '{}'`, text: 'the request is emptied; the ids stay' },
  },
  {
    part: 'recordings',
    table: 'recordings',
    of: either('client_id', 'operator_id'),
    contains:
      'recordings of your robots and of sessions that you drove: their files contain your name and your chat messages',
    kept: 'as the owner of the robot set it',
    why: 'the owner of the robot wanted them',
    exported: byId('id session_id robot_id mode status started_at ended_at expires_at size_bytes'),
    deletion: {
      where: column('client_id'),
      set: () => sql`expires_at = least(expires_at, now())`,
      text: 'those of your own robots are deleted within a day; others belong to the owner of the robot',
    },
  },
  {
    part: 'recording_links',
    table: 'recording_shares',
    of: column('created_by'),
    contains: 'links to recordings that you made; without the secret',
    kept: 'a month after they end',
    why: 'to show who could read a recording',
    exported: byId('id recording_id created_at expires_at revoked_at'),
    deletion: { set: () => sql`revoked_at = coalesce(revoked_at, now())`, text: 'revoked' },
  },
  {
    part: 'recording_bookmarks',
    table: 'recording_bookmarks',
    of: ofUser,
    contains: 'moments of recordings that you marked',
    kept: 'as long as the recording',
    why: 'they are a part of the recording',
    exported: byId('id recording_id at label created_at'),
    deletion: 'kept',
  },
  {
    part: 'recording_reads',
    table: 'recording_downloads',
    of: ofUser,
    contains: 'recordings that you read',
    kept: 'as long as the recording',
    why: 'its owner must know who did',
    exported: { key: 'id', type: 'bigint', columns: ['recording_id', 'kind', 'at'] },
    deletion: 'kept',
  },
  {
    part: 'datasets',
    table: 'datasets',
    of: column('client_id'),
    contains: 'datasets of robots of your personal organization',
    kept: 'as long as the robot',
    why: 'you recorded them',
    exported: byId('id robot_id episode_count size_bytes created_at updated_at'),
    deletion: 'kept',
  },
  {
    part: 'dataset_exports',
    table: 'dataset_exports',
    of: ofUser,
    contains: 'datasets that you exported',
    kept: UNTIL_DELETION,
    why: 'you made them',
    exported: byId('id format name version fps status episodes frames size_bytes created_at finished_at'),
    deletion: { delete: true },
  },
  {
    part: 'session_exports',
    table: 'session_exports',
    of: ofUser,
    contains: 'exports of your sessions',
    kept: '24 hours',
    why: 'you made them',
    exported: byId('id format status rows bytes created_at finished_at expires_at'),
    deletion: { delete: true },
  },
  {
    part: 'data_exports',
    table: 'data_exports',
    of: ofUser,
    contains: 'exports as this one',
    kept: '24 hours',
    why: 'you made them',
    exported: byId('id status rows bytes created_at finished_at expires_at'),
    deletion: { delete: true },
  },
  {
    part: 'notifications',
    table: 'notifications',
    of: ofUser,
    contains: 'what the platform notified you about',
    kept: UNTIL_DELETION,
    why: 'to show it to you',
    exported: { key: 'seq', type: 'bigint', columns: text('seq type data created_at read_at') },
    deletion: { delete: true },
  },
  {
    part: 'notification_settings',
    table: 'notification_settings',
    of: ofUser,
    contains: 'what you muted, quiet hours, language',
    kept: UNTIL_DELETION,
    why: 'you set it',
    exported: byUser('muted quiet_hours language'),
    deletion: { delete: true },
  },
  {
    part: 'notification_mails',
    table: 'notification_mails',
    of: ofUser,
    contains: 'mails about notifications: which, when, and whether they arrived',
    kept: 'a week',
    why: 'to send each once',
    exported: byId('id created_at delivered_at attempts'),
    deletion: { delete: true },
  },
  {
    part: 'notification_digests',
    table: 'notification_digests',
    of: ofUser,
    contains: 'when the next mail is due',
    kept: 'until it is sent',
    why: 'to send fewer mails',
    exported: byUser('due_at'),
    deletion: { delete: true },
  },
  {
    part: 'push_subscriptions',
    table: 'push_subscriptions',
    of: ofUser,
    contains: 'browsers that show you notifications; without the keys',
    kept: UNTIL_DELETION,
    why: 'you allowed it there',
    exported: byId('id endpoint label created_at last_success_at'),
    deletion: { delete: true },
  },
  {
    part: 'webhooks',
    table: 'webhooks',
    of: ofUser,
    contains: 'addresses of your programs, with their deliveries; without the secret',
    kept: UNTIL_DELETION,
    why: 'you made them',
    exported: byId('id url description types enabled disabled_reason created_at last_success_at'),
    deletion: { delete: true },
  },
  {
    part: 'event_stream',
    table: 'event_streams',
    of: ofUser,
    contains: 'the position of your event stream',
    kept: UNTIL_DELETION,
    why: 'your programs read it',
    exported: byUser('head pruned_to subscribed'),
    deletion: { delete: true },
  },
  {
    part: 'events',
    table: 'user_events',
    of: ofUser,
    contains: 'copies of events of your robots and sessions for your programs',
    kept: '14 days',
    why: 'your programs read them',
    exported: 'they repeat what is in the other parts; `GET /api/events` has them',
    deletion: { delete: true },
  },
  {
    part: 'audit_log',
    table: 'audit_log',
    of: column('actor_id'),
    contains: 'what you did that concerns money, safety or access',
    kept: '90 days to five years, by kind',
    why: 'to be able to prove it; the log is append-only, and names you by the id, which is a pseudonym after a deletion',
    exported: {
      key: 'id',
      type: 'bigint',
      columns: ['id', 'at', 'action', 'subject_type', 'subject_id', 'data'],
    },
    deletion: 'kept',
  },
  {
    part: 'repeated_requests',
    table: 'idempotency_keys',
    of: ({ id }) => sql<boolean>`scope = ${id}::text`,
    contains: 'sealed answers to your requests with an Idempotency-Key',
    kept: '24 hours',
    why: 'to answer a repetition as the first request',
    exported: 'they are sealed, and repeat what is in the other parts',
    deletion: { delete: true },
  },
  {
    part: 'contact_messages',
    table: 'contact_messages',
    of: byAddress,
    contains: 'messages from your address to the platform',
    kept: UNTIL_DELETION,
    why: 'to answer you',
    exported: byId('id name email category subject message created_at'),
    deletion: { delete: true },
  },
  {
    part: 'robot_requests',
    table: 'robot_requests',
    of: byAddress,
    contains: 'requests for robots from your address',
    kept: UNTIL_DELETION,
    why: 'to know which robots are wanted',
    exported: byId('id email robot_type name details created_at'),
    deletion: { delete: true },
  },
]
