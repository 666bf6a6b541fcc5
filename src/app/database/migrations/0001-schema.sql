-- The whole schema of version 0.1.0. Entities declare the tables again for the ORM; a test compares the two.
-- Never edit this file once a version is released: append a migration.

create extension if not exists btree_gist;
create extension if not exists pg_trgm;

-- The base: events to publish, the audit log, idempotency keys, progress of jobs.

create table idempotency_keys (
  scope text not null,
  key text not null,
  fingerprint text not null,
  claim_id uuid not null,
  claimed_until timestamptz(3) not null,
  effect_at timestamptz(3),
  status smallint,
  body text,
  created_at timestamptz(3) not null default now(),
  primary key (scope, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

create table job_progress (
  job_id uuid primary key,
  done bigint not null,
  total bigint not null,
  updated_at timestamptz(3) not null,
  constraint job_progress_range check (done >= 0 and total >= 0)
);

create table outbox (
  id bigserial primary key,
  name text not null,
  payload jsonb not null,
  created_at timestamptz(3) not null default now()
);

create table audit_log (
  id bigserial primary key,
  at timestamptz(3) not null default now(),
  actor_id uuid,
  action text not null,
  subject_type text not null,
  subject_id text not null,
  data jsonb not null
);
create index audit_log_by_subject on audit_log (subject_type, subject_id, id);
create index audit_log_by_actor on audit_log (actor_id, id);
create index audit_log_by_action on audit_log (action, id);
create index audit_log_by_time on audit_log (at);

-- Prices, invoices and the ledger.

create table pricing_plans (
  id text primary key,
  name text not null,
  description text not null,
  client_rate_cents_per_minute int not null,
  operator_share_percent int not null,
  is_default boolean not null default false,
  is_public boolean not null default true,
  "position" int not null default 0,
  -- At 100 EUR a minute a session exceeds its charge column after 149 days.
  constraint pricing_plans_rate check (client_rate_cents_per_minute between 0 and 10000),
  constraint pricing_plans_share check (operator_share_percent between 0 and 100)
);
create unique index one_default_plan on pricing_plans (is_default) where is_default;

create table invoices (
  id uuid primary key,
  client_id uuid not null,
  month text not null,
  status text not null,
  currency text not null,
  total_cents bigint not null,
  session_count int not null,
  minutes int not null,
  billing_name text,
  billing_country text,
  billing_vat_id text,
  issued_at timestamptz(3),
  paid_at timestamptz(3),
  hosted_url text,
  created_at timestamptz(3) not null default now(),
  constraint one_invoice_per_month unique (client_id, month),
  constraint invoices_month check (month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'),
  constraint invoices_total check (total_cents >= 0),
  constraint invoices_issued check (status = 'DRAFT' or issued_at is not null),
  constraint invoices_paid check (status <> 'PAID' or paid_at is not null),
  constraint invoices_billing_name check (status = 'DRAFT' or billing_name is not null),
  constraint invoices_status_check check (status in ('DRAFT', 'OPEN', 'PAID', 'FAILED', 'VOID'))
);
create index invoices_to_collect on invoices (issued_at) where status = 'OPEN';

create table ledger_entries (
  id bigserial primary key,
  posting_id uuid not null,
  account text not null,
  user_id uuid,
  amount_cents bigint not null,
  session_id uuid,
  invoice_id uuid,
  payout_id uuid,
  kind text not null,
  at timestamptz(3) not null default now(),
  constraint ledger_entries_amount check (amount_cents <> 0),
  constraint ledger_entries_owner check ((user_id is not null) = (account in ('client_receivable', 'client_balance', 'operator_pending', 'operator_payable', 'payout_reserved'))),
  constraint ledger_entries_account_check check (account in ('client_receivable', 'client_balance', 'operator_pending', 'operator_payable', 'platform_revenue', 'payout_reserved', 'provider_cash')),
  constraint ledger_entries_invoice_id_foreign foreign key (invoice_id) references invoices (id) on delete restrict
);
create unique index one_charge_per_session on ledger_entries (session_id, account) where kind = 'session_charge';
create unique index one_settlement_per_invoice on ledger_entries (invoice_id, account) where kind in ('invoice_paid', 'invoice_voided');
create index ledger_entries_by_posting on ledger_entries (posting_id);
create index ledger_entries_by_account on ledger_entries (user_id, account) include (amount_cents);
create index ledger_entries_by_invoice on ledger_entries (invoice_id) where invoice_id is not null;
create index ledger_entries_by_payout on ledger_entries (payout_id) where payout_id is not null;

-- Users, API keys and avatars.

create table users (
  id uuid primary key,
  issuer text not null,
  subject text not null,
  email text,
  email_verified boolean not null default false,
  display_name text not null,
  display_name_chosen boolean not null default false,
  avatar_url text,
  is_client boolean not null default false,
  is_operator boolean not null default false,
  removed_roles text[] not null default '{}',
  notification_preferences jsonb not null default '{}',
  -- A counter in a locked row: a rollback returns the number, so notifications have no gaps.
  notification_seq int not null default 0,
  notification_unread int not null default 0,
  plan_id text,
  suspended_at timestamptz(3),
  suspension_reason text,
  permissions_version int not null default 0,
  permissions_changed_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint users_issuer_subject unique (issuer, subject),
  constraint users_notification_unread check (notification_unread >= 0),
  constraint users_suspension check ((suspended_at is null) = (suspension_reason is null)),
  constraint users_plan_id_foreign foreign key (plan_id) references pricing_plans (id) on delete restrict
);
create index users_operators on users (id) where is_operator;
create index users_permissions_changed on users (permissions_changed_at) where permissions_changed_at is not null;
create index users_newest on users (created_at desc, id desc);
create index users_suspended on users (created_at desc, id desc) where suspended_at is not null;
create index users_by_email on users (lower(email collate "C"));
-- Finds parts of names and addresses. The extension pg_trgm splits them into groups of three letters.
create index users_search on users using gin ((display_name || ' ' || coalesce(email, '')) gin_trgm_ops);

create table avatars (
  user_id uuid primary key,
  name text not null,
  image bytea not null,
  created_at timestamptz(3) not null default now(),
  constraint avatars_name unique (name),
  constraint avatars_size check (octet_length(image) <= 262144),
  constraint avatars_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade
);

create table api_keys (
  id uuid primary key,
  user_id uuid not null,
  name text not null,
  hash text not null,
  prefix text not null,
  last4 text not null,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  constraint api_keys_hash unique (hash),
  constraint api_keys_user_id_foreign foreign key (user_id) references users (id) on delete cascade
);
create index api_keys_by_user on api_keys (user_id, created_at);
create index api_keys_revoked_recently on api_keys (revoked_at) where revoked_at is not null;

-- Rewritten every few seconds for every connected user: pages with free space keep the updates in place (HOT).
create table user_presence (
  user_id uuid primary key,
  seen_at timestamptz(3) not null default now(),
  constraint user_presence_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade
) with (fillfactor = 50);

-- Profiles of clients.

create table client_profiles (
  user_id uuid primary key,
  company_name text,
  contact_email text,
  phone text,
  country text,
  vat_id text,
  payment_method_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint client_profiles_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade
);

-- Robots, their models, health and logs.

create table robot_models (
  id text primary key,
  name text not null,
  manufacturer text not null,
  robot_type text not null,
  category text not null,
  degrees_of_freedom int not null,
  control_modes text[] not null,
  notes text,
  control_schema jsonb,
  telemetry_schema jsonb,
  constraint robot_models_robot_type unique (robot_type),
  constraint robot_models_degrees check (degrees_of_freedom > 0),
  constraint robot_models_control_modes check (control_modes <@ array['joint_position', 'joint_velocity', 'cartesian_pose', 'cartesian_velocity', 'base_velocity', 'gripper']),
  constraint robot_models_category_check check (category in ('arm', 'bimanual', 'mobile_manipulator', 'mobile_base', 'quadruped', 'humanoid'))
);

create table robots (
  id uuid primary key,
  owner_id uuid not null,
  name text not null,
  robot_type text not null,
  hardware_id text not null,
  stream_url text not null default '',
  tags text[] not null default '{}',
  notes text,
  operator_notes text,
  status text not null default 'OFFLINE',
  require_certification boolean not null default false,
  latency_limit_ms int not null default 400,
  latency_budget_ms int,
  video_limit_ms int,
  control_schema jsonb,
  telemetry_schema jsonb,
  strict_control boolean not null default false,
  stop_clear text not null default 'owner',
  recording text not null default 'off',
  recording_days int,
  on_hold boolean not null default false,
  log_event_level text not null default 'error',
  token_version int not null default 1,
  session_seconds int not null default 0,
  link_changed_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  constraint robots_recording_days_check check (recording_days between 1 and 3650),
  constraint robots_status_check check (status in ('OFFLINE', 'AVAILABLE', 'IN_SESSION')),
  constraint robots_stop_clear_check check (stop_clear in ('owner', 'anyone')),
  constraint robots_recording_check check (recording in ('off', 'control', 'video')),
  constraint robots_log_event_level_check check (log_event_level in ('off', 'warn', 'error')),
  constraint robots_owner_id_foreign foreign key (owner_id) references users (id)
);
create unique index one_robot_per_hardware_id on robots (lower(btrim(hardware_id))) where deleted_at is null;
create index robots_by_owner on robots (owner_id, created_at desc, id desc) where deleted_at is null;
-- Also counts robots by status and type with an index-only scan.
create index robots_by_owner_status on robots (owner_id, status, created_at desc, id desc) include (robot_type) where deleted_at is null;
create index robots_by_owner_name on robots (owner_id, lower(name), id) where deleted_at is null;
create index robots_by_owner_type on robots (owner_id, robot_type, created_at desc, id desc) where deleted_at is null;
create index robots_available on robots (created_at desc, id desc) where status = 'AVAILABLE' and deleted_at is null;
create index robots_available_by_type on robots (robot_type, created_at desc, id desc) where status = 'AVAILABLE' and deleted_at is null;
create index robots_newest on robots ((created_at at time zone 'UTC') desc, id desc) where deleted_at is null;
create index robots_by_name on robots (lower(name) text_pattern_ops) where deleted_at is null;
-- Robots without tags are not in it, so that their connections do not write to it.
create index robots_by_tag on robots using gin (tags) where deleted_at is null and tags <> '{}';
-- Counts the tags of an owner.
create index robots_with_tags on robots (owner_id) where deleted_at is null and tags <> '{}';
create index robots_link_changed on robots (link_changed_at);

create table robot_pairings (
  robot_id uuid primary key,
  code_hash text not null,
  token_version int not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  constraint one_robot_per_pairing_code unique (code_hash),
  constraint robot_pairings_robot_id_foreign foreign key (robot_id) references robots (id) on update cascade on delete cascade
);

create table robot_log_streams (
  robot_id uuid primary key,
  head bigint not null,
  pruned_to bigint not null default '0',
  bytes bigint not null default '0',
  event_lines int not null default 0,
  event_level text,
  event_message text,
  event_since timestamptz(3),
  event_at timestamptz(3),
  constraint robot_log_streams_range check (pruned_to between 0 and head),
  constraint robot_log_streams_event check ((event_lines > 0) = (event_level is not null)),
  constraint robot_log_streams_event_level_check check (event_level in ('debug', 'info', 'warn', 'error')),
  constraint robot_log_streams_robot_id_foreign foreign key (robot_id) references robots (id) on update cascade on delete cascade
);
create index robot_log_streams_events on robot_log_streams (robot_id) where event_lines > 0;

create table robot_logs (
  robot_id uuid not null,
  seq bigint not null,
  level text not null,
  message text not null,
  dropped int not null default 0,
  at timestamptz(3) not null,
  primary key (robot_id, seq),
  constraint robot_logs_level_check check (level in ('debug', 'info', 'warn', 'error')),
  constraint robot_logs_robot_id_foreign foreign key (robot_id) references robots (id) on delete cascade
);
create index robot_logs_by_age on robot_logs (at);

create table robot_health_samples (
  robot_id uuid not null,
  at timestamptz(3) not null,
  battery double precision,
  primary key (robot_id, at),
  constraint robot_health_samples_robot_id_foreign foreign key (robot_id) references robots (id) on delete cascade
);
create index robot_health_samples_by_age on robot_health_samples (at);

-- Gateway nodes and the presence of robots.

create table gateway_nodes (
  id uuid primary key,
  url text not null,
  started_at timestamptz(3) not null default now(),
  draining boolean not null default false,
  seen_at timestamptz(3) not null default now()
);

-- Rewritten every second for every robot: pages with free space keep the updates in place (HOT), and vacuum comes early.
create table robot_presence (
  robot_id uuid primary key,
  epoch int not null default 0,
  connected boolean not null default false,
  node_id uuid,
  last_online timestamptz(3),
  last_heartbeat timestamptz(3),
  lost_at timestamptz(3),
  battery double precision,
  battery_at timestamptz(3),
  low_battery_threshold double precision not null default 0.2,
  battery_low boolean not null default false,
  battery_low_notified boolean not null default false,
  constraint robot_presence_robot_id_foreign foreign key (robot_id) references robots (id) on update cascade on delete cascade
) with (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index presence_connected_by_node on robot_presence (node_id) where connected;
create index presence_battery_low on robot_presence (robot_id) where battery_low and not battery_low_notified;
create index presence_with_low_battery on robot_presence (robot_id) where battery_low;

-- Cameras.

create table media_nodes (
  id uuid primary key,
  seen_at timestamptz(3) not null default now()
);

create table cameras (
  robot_id uuid not null,
  name text not null,
  label text,
  "position" int not null,
  node_id uuid,
  has_audio boolean not null default false,
  codec text,
  bits_per_second int not null default 0,
  frames_per_second double precision not null default 0,
  latency_ms int,
  primary key (robot_id, name),
  -- Checked at the end of a statement, so that two cameras can change places.
  constraint one_camera_per_position unique (robot_id, "position") deferrable initially immediate,
  constraint cameras_name_check check (name ~ '^[a-z0-9][a-z0-9_-]{0,31}$'),
  constraint cameras_position_check check ("position" between 0 and 7),
  constraint cameras_robot_id_foreign foreign key (robot_id) references robots (id) on delete cascade
);

-- Operators: profiles, schedules, certifications.

create table operator_schedules (
  user_id uuid primary key,
  timezone text not null,
  slots jsonb not null,
  updated_at timestamptz(3) not null default now(),
  constraint operator_schedules_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade
);

create table operator_profiles (
  user_id uuid primary key,
  headline text,
  bio text,
  country text,
  timezone text,
  languages text[] not null default '{}',
  payout_ready_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint operator_profiles_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade
);

create table certifications (
  id uuid primary key,
  operator_id uuid not null,
  robot_type text not null,
  status text not null default 'PENDING',
  note text,
  reason text,
  requested_at timestamptz(3) not null default now(),
  decided_at timestamptz(3),
  decided_by_id uuid,
  constraint certifications_reason check (status <> 'REVOKED' or reason is not null),
  constraint certifications_status_check check (status in ('PENDING', 'APPROVED', 'REJECTED', 'REVOKED')),
  constraint certifications_operator_id_foreign foreign key (operator_id) references users (id),
  constraint certifications_decided_by_id_foreign foreign key (decided_by_id) references users (id) on delete set null
);
create unique index one_live_certification_per_type on certifications (operator_id, robot_type) where status in ('PENDING', 'APPROVED');
create index certifications_by_operator on certifications (operator_id, requested_at);
create index certifications_by_status on certifications (status, requested_at);

-- Sessions, their log, chat and exports.

create table session_totals (
  shard smallint primary key,
  completed bigint not null default '0',
  teleop_ms bigint not null default '0',
  episodes bigint not null default '0'
);

create table ticket_counters (
  user_id uuid primary key,
  issued bigint not null,
  constraint ticket_counters_issued check (issued > 0),
  constraint ticket_counters_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade
);

create table session_exports (
  id uuid primary key,
  user_id uuid not null,
  format text not null,
  request jsonb not null,
  status text not null default 'PENDING',
  total_rows int not null,
  rows int not null default 0,
  bytes bigint not null default '0',
  chunks int not null default 0,
  last_id uuid,
  last_created_at text,
  error text,
  created_at timestamptz(3) not null,
  finished_at timestamptz(3),
  expires_at timestamptz(3) not null,
  constraint session_exports_finished check ((status in ('READY', 'FAILED')) = (finished_at is not null)),
  constraint session_exports_error check ((status = 'FAILED') = (error is not null)),
  constraint session_exports_sizes check (rows >= 0 and bytes >= 0 and chunks >= 0),
  constraint session_exports_format_check check (format in ('csv', 'json')),
  constraint session_exports_status_check check (status in ('PENDING', 'RUNNING', 'READY', 'FAILED')),
  constraint session_exports_user_id_foreign foreign key (user_id) references users (id) on delete cascade
);
create index session_exports_by_user on session_exports (user_id, created_at);
create index session_exports_by_expiry on session_exports (expires_at);

-- The chunks are compressed already: the database stores them as they are.
create table session_export_chunks (
  export_id uuid not null,
  number int not null,
  data bytea storage external not null,
  primary key (export_id, number),
  constraint session_export_chunks_export_id_foreign foreign key (export_id) references session_exports (id) on delete cascade
);

create table sessions (
  id uuid primary key,
  robot_id uuid not null,
  operator_id uuid not null,
  client_id uuid not null,
  status text not null,
  scheduled_for timestamptz(3),
  planned_minutes int,
  planned_end_announced timestamptz(3),
  started_at timestamptz(3),
  ended_at timestamptz(3),
  paused_at timestamptz(3),
  pause_reason text,
  pause_announced_at timestamptz(3),
  operator_gone_at timestamptz(3),
  ends_at timestamptz(3),
  paused_ms bigint not null default '0',
  robot_lost_at timestamptz(3),
  end_reason text,
  driven boolean not null default false,
  active_since timestamptz(3),
  active_until timestamptz(3),
  active_ms bigint not null default '0',
  outage_ms bigint not null default '0',
  offline_ms bigint not null default '0',
  plan_id text,
  client_rate_cents_per_minute int,
  operator_share_percent int,
  billable_minutes int,
  stop_reason text,
  stop_at timestamptz(3),
  stop_by_id uuid,
  stop_by_role text,
  stop_by_owner boolean not null default false,
  stop_clear_requested_at timestamptz(3),
  stop_requests int not null default 0,
  client_charge_cents int,
  operator_earnings_cents int,
  earnings_held_until timestamptz(3),
  recorded_robot_name text,
  recorded_robot_type text,
  recorded_operator_name text,
  recorded_client_name text,
  invoice_id uuid,
  episodes_collected int not null default 0,
  data_collected_bytes bigint not null default '0',
  rating smallint,
  rating_comment text,
  event_seq int not null default 0,
  created_at timestamptz(3) not null default now(),
  -- No two planned or open sessions of a robot or an operator overlap. booking.service.ts turns a violation into a 409.
  constraint sessions_robot_window exclude using gist (robot_id with =, tstzrange(least(scheduled_for, started_at), (least(scheduled_for, started_at) at time zone 'UTC' + make_interval(mins => planned_minutes)) at time zone 'UTC') with &&) where (status in ('PENDING', 'ACTIVE', 'PAUSED') and planned_minutes is not null),
  constraint sessions_operator_window exclude using gist (operator_id with =, tstzrange(least(scheduled_for, started_at), (least(scheduled_for, started_at) at time zone 'UTC' + make_interval(mins => planned_minutes)) at time zone 'UTC') with &&) where (status in ('PENDING', 'ACTIVE', 'PAUSED') and planned_minutes is not null),
  constraint sessions_times check (ended_at is null or started_at is null or ended_at >= started_at),
  constraint sessions_rating check (rating between 1 and 5),
  constraint sessions_open_started check (status not in ('ACTIVE', 'PAUSED', 'COMPLETED') or started_at is not null),
  -- session-time.ts counts the ACTIVE time in the statement that changes the status; an update that does not is refused.
  constraint sessions_active_time check ((status = 'ACTIVE') = (active_since is not null and active_until is null)),
  constraint sessions_priced check (status not in ('ACTIVE', 'PAUSED') or (plan_id is not null and client_rate_cents_per_minute is not null and operator_share_percent is not null)),
  constraint sessions_planned_minutes check (planned_minutes > 0),
  constraint sessions_pending_planned check (status <> 'PENDING' or (scheduled_for is not null and planned_minutes is not null)),
  constraint sessions_outage check (outage_ms between 0 and active_ms),
  constraint sessions_charge check (operator_earnings_cents between 0 and client_charge_cents),
  constraint sessions_recorded check (status not in ('COMPLETED', 'CANCELLED') or (recorded_robot_name is not null and recorded_robot_type is not null and recorded_operator_name is not null and recorded_client_name is not null)),
  constraint sessions_own_not_rated check (operator_id <> client_id or rating is null),
  constraint sessions_held check (earnings_held_until is null or operator_earnings_cents > 0),
  constraint sessions_operator_gone check ((operator_gone_at is null or status = 'PAUSED') and (ends_at is null or operator_gone_at is not null)),
  -- A latched stop keeps its session PAUSED, so every transition obeys it. Who may clear it is in the same row.
  constraint sessions_stop_pauses check (stop_at is null or status = 'PAUSED'),
  constraint sessions_stop_reason check ((stop_at is null) = (stop_reason is null)),
  constraint sessions_stop_authority check (stop_at is not null or (not stop_by_owner and stop_by_role is null and stop_clear_requested_at is null)),
  constraint sessions_status_check check (status in ('PENDING', 'ACTIVE', 'PAUSED', 'COMPLETED', 'CANCELLED')),
  constraint sessions_stop_by_role_check check (stop_by_role in ('client', 'operator', 'admin')),
  constraint sessions_robot_id_foreign foreign key (robot_id) references robots (id),
  constraint sessions_operator_id_foreign foreign key (operator_id) references users (id),
  constraint sessions_client_id_foreign foreign key (client_id) references users (id),
  constraint sessions_stop_by_id_foreign foreign key (stop_by_id) references users (id) on delete set null,
  constraint sessions_invoice_id_foreign foreign key (invoice_id) references invoices (id) on delete restrict
);
-- The last guard against two sessions at once, whatever the services decide.
create unique index one_open_session_per_operator on sessions (operator_id) where status in ('ACTIVE', 'PAUSED');
create unique index one_open_session_per_robot on sessions (robot_id) where status in ('ACTIVE', 'PAUSED');
create index sessions_by_operator on sessions (operator_id, created_at desc, id desc);
create index sessions_by_client on sessions (client_id, created_at desc, id desc);
-- The two serve the counts of lists, by robot and by name too, with index-only scans.
create index sessions_by_operator_status on sessions (operator_id, status, created_at desc, id desc) include (robot_id, client_id);
create index sessions_by_client_status on sessions (client_id, status, created_at desc, id desc) include (robot_id, operator_id);
create index sessions_due on sessions (scheduled_for) where status = 'PENDING';
create index sessions_open on sessions (status, robot_id) where status in ('ACTIVE', 'PAUSED');
create index sessions_by_robot on sessions (robot_id, started_at);
create index sessions_newest on sessions ((created_at at time zone 'UTC') desc, id desc);
create index sessions_by_status on sessions (status, (created_at at time zone 'UTC') desc, id desc);
create index sessions_by_robot_newest on sessions (robot_id, created_at desc, id desc);
-- Serves the sums of the dashboards with index-only scans.
create index sessions_completed_by_client on sessions (client_id, ended_at) include (billable_minutes, client_charge_cents, episodes_collected, data_collected_bytes, rating) where status = 'COMPLETED';
create index sessions_completed_by_operator on sessions (operator_id, ended_at) include (billable_minutes, operator_earnings_cents, rating) where status = 'COMPLETED';
create index sessions_by_invoice on sessions (invoice_id, started_at) where invoice_id is not null;
-- Sessions without an invoice: of all clients, oldest first, and of one client.
create index sessions_uninvoiced on sessions (ended_at) where status = 'COMPLETED' and invoice_id is null and client_charge_cents is not null;
create index sessions_uninvoiced_by_client on sessions (client_id, ended_at) where status = 'COMPLETED' and invoice_id is null and client_charge_cents is not null;
-- Earnings that are not available yet: of all operators, earliest due first, and of one operator.
create index sessions_earnings_due on sessions (earnings_held_until) where earnings_held_until is not null;
create index sessions_earnings_held on sessions (operator_id, earnings_held_until) where earnings_held_until is not null;

create table session_latency (
  session_id uuid primary key,
  buckets bigint[] not null,
  max_ms double precision not null,
  frames bigint not null,
  dropped bigint not null,
  budgeted_ms double precision not null default 0,
  scaled_ms double precision not null default 0,
  limited_ms double precision not null default 0,
  picture_limited_ms double precision not null default 0,
  min_speed_scale double precision not null default 1,
  video_buckets bigint[],
  video_max_ms double precision not null default 0,
  video_dropped bigint not null default 0,
  updated_at timestamptz(3) not null default now(),
  constraint session_latency_buckets check (cardinality(buckets) = 64),
  constraint session_latency_video_buckets check (cardinality(video_buckets) = 64),
  constraint session_latency_session_id_foreign foreign key (session_id) references sessions (id) on update cascade on delete cascade
);

create table session_extensions (
  id uuid primary key,
  session_id uuid not null,
  additional_minutes int not null,
  status text not null default 'REQUESTED',
  requested_at timestamptz(3) not null default now(),
  decided_at timestamptz(3),
  constraint session_extensions_minutes check (additional_minutes between 1 and 480),
  constraint session_extensions_decided check ((status = 'REQUESTED') = (decided_at is null)),
  constraint session_extensions_status_check check (status in ('REQUESTED', 'APPROVED', 'DECLINED', 'EXPIRED')),
  constraint session_extensions_session_id_foreign foreign key (session_id) references sessions (id)
);
create unique index one_waiting_extension_per_session on session_extensions (session_id) where status = 'REQUESTED';
create index session_extensions_by_session on session_extensions (session_id, requested_at);

create table session_events (
  session_id uuid not null,
  seq int not null,
  type text not null,
  data jsonb not null,
  at timestamptz(3) not null default now(),
  primary key (session_id, seq),
  constraint session_events_session_id_foreign foreign key (session_id) references sessions (id)
);

create table messages (
  id uuid primary key,
  session_id uuid not null,
  seq int not null,
  sender_id uuid not null,
  sender_name text not null,
  sender_role text not null,
  body text not null,
  client_message_id text,
  created_at timestamptz(3) not null default now(),
  constraint messages_seq unique (session_id, seq),
  constraint messages_client_id unique (session_id, sender_id, client_message_id),
  constraint messages_sender_role_check check (sender_role in ('client', 'operator', 'admin')),
  constraint messages_session_id_foreign foreign key (session_id) references sessions (id),
  constraint messages_sender_id_foreign foreign key (sender_id) references users (id)
);

-- Payments and payouts through Stripe.

create table stripe_events (
  id text primary key,
  type text not null,
  at timestamptz(3) not null default now()
);
create index stripe_events_by_age on stripe_events (at);

create table stripe_objects (
  id text primary key,
  asked_at timestamptz(6) not null
);

create table stripe_accounts (
  user_id uuid not null,
  kind text not null,
  request_key uuid not null,
  request jsonb not null,
  stripe_id text,
  created_at timestamptz(3) not null default now(),
  primary key (user_id, kind),
  constraint stripe_accounts_stripe_id unique (stripe_id),
  constraint stripe_accounts_kind_check check (kind in ('customer', 'recipient')),
  constraint stripe_accounts_user_id_foreign foreign key (user_id) references users (id) on delete restrict
);

create table payouts (
  id uuid primary key,
  operator_id uuid not null,
  amount_cents bigint not null,
  currency text not null,
  destination text not null,
  status text not null default 'PENDING',
  attempts int not null default 0,
  transfer_id text,
  reversed_cents bigint not null default '0',
  failure text,
  created_at timestamptz(3) not null default now(),
  settled_at timestamptz(3),
  constraint payouts_transfer_id unique (transfer_id),
  constraint payouts_amount check (amount_cents > 0),
  constraint payouts_reversed check (reversed_cents between 0 and amount_cents),
  constraint payouts_settled check ((status = 'PENDING') = (settled_at is null)),
  constraint payouts_paid check (status <> 'PAID' or transfer_id is not null),
  constraint payouts_status_check check (status in ('PENDING', 'PAID', 'FAILED')),
  constraint payouts_operator_id_foreign foreign key (operator_id) references users (id) on delete restrict
);
create index payouts_by_operator on payouts (operator_id, created_at);

create table invoice_collections (
  invoice_id uuid primary key,
  request_key uuid not null,
  stripe_id text,
  attempts int not null default 0,
  failure text,
  created_at timestamptz(3) not null default now(),
  constraint invoice_collections_stripe_id unique (stripe_id),
  constraint invoice_collections_invoice_id_foreign foreign key (invoice_id) references invoices (id) on update cascade on delete restrict
);

-- Recordings.

create table recorder_nodes (
  id uuid primary key,
  url text not null,
  draining boolean not null default false,
  seen_at timestamptz(3) not null default now()
);

create table recording_deletions (
  recording_id uuid primary key,
  deleted_at timestamptz(3) not null default now()
);

create table recordings (
  id uuid primary key,
  session_id uuid not null,
  robot_id uuid not null,
  client_id uuid not null,
  operator_id uuid not null,
  mode text not null,
  status text not null default 'RECORDING',
  paused_reason text,
  started_at timestamptz(3) not null,
  ended_at timestamptz(3),
  finished_at timestamptz(3),
  expires_at timestamptz(3),
  size_bytes bigint not null default '0',
  segments int not null default 0,
  channels jsonb not null default '[]',
  file_key text,
  error text,
  control_schema jsonb,
  telemetry_schema jsonb,
  constraint one_recording_per_session unique (session_id),
  constraint recordings_ready check ((status = 'READY') = (file_key is not null)),
  constraint recordings_failed check ((status = 'FAILED') = (error is not null)),
  constraint recordings_sizes check (size_bytes >= 0 and segments >= 0),
  constraint recordings_mode_check check (mode in ('control', 'video')),
  constraint recordings_status_check check (status in ('RECORDING', 'FINISHING', 'READY', 'FAILED')),
  constraint recordings_session_id_foreign foreign key (session_id) references sessions (id),
  constraint recordings_robot_id_foreign foreign key (robot_id) references robots (id),
  constraint recordings_client_id_foreign foreign key (client_id) references users (id),
  constraint recordings_operator_id_foreign foreign key (operator_id) references users (id)
);
create index recordings_by_client on recordings (client_id, started_at desc, id desc);
create index recordings_by_robot on recordings (robot_id, started_at desc, id desc);
create index recordings_unfinished on recordings (status, session_id) where status in ('RECORDING', 'FINISHING');
create index recordings_by_expiry on recordings (expires_at) where expires_at is not null;

create table recording_streams (
  id uuid primary key,
  recording_id uuid not null,
  source text not null,
  origin_id uuid not null,
  node_id uuid not null,
  opened_at timestamptz(3) not null,
  closed_at timestamptz(3),
  constraint recording_streams_recording_id_foreign foreign key (recording_id) references recordings (id) on delete cascade
);
create index recording_streams_by_recording on recording_streams (recording_id, opened_at);
create index recording_streams_open on recording_streams (node_id) where closed_at is null;
-- The newest stream of an origin is the only one that may add segments.
create unique index one_open_stream_per_origin on recording_streams (origin_id) where closed_at is null;

create table recording_shares (
  id uuid primary key,
  recording_id uuid not null,
  created_by uuid not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  token_hash text not null,
  constraint one_recording_share_per_token unique (token_hash),
  constraint recording_shares_recording_id_foreign foreign key (recording_id) references recordings (id) on delete cascade,
  constraint recording_shares_created_by_foreign foreign key (created_by) references users (id)
);
create index recording_shares_by_recording on recording_shares (recording_id, created_at desc);

create table recording_segments (
  stream_id uuid not null,
  number int not null,
  recording_id uuid not null,
  from_at timestamptz(3) not null,
  to_at timestamptz(3) not null,
  last_ms double precision not null,
  messages int not null,
  size_bytes int not null,
  sha256 text not null,
  object_key text not null,
  created_at timestamptz(3) not null default now(),
  primary key (stream_id, number),
  constraint recording_segments_times check (to_at >= from_at),
  constraint recording_segments_sizes check (size_bytes > 0 and messages > 0 and number >= 0),
  constraint recording_segments_stream_id_foreign foreign key (stream_id) references recording_streams (id) on delete cascade,
  constraint recording_segments_recording_id_foreign foreign key (recording_id) references recordings (id) on delete cascade
);
create index recording_segments_by_recording on recording_segments (recording_id, from_at);

create table recording_gaps (
  id bigserial primary key,
  recording_id uuid not null,
  source text not null,
  origin_id uuid,
  from_at timestamptz(3) not null,
  to_at timestamptz(3),
  reason text not null,
  constraint recording_gaps_times check (to_at >= from_at),
  constraint recording_gaps_recording_id_foreign foreign key (recording_id) references recordings (id) on delete cascade
);
create index recording_gaps_by_recording on recording_gaps (recording_id, from_at);

create table recording_downloads (
  id bigserial primary key,
  recording_id uuid not null,
  user_id uuid,
  share_id uuid,
  kind text not null,
  at timestamptz(3) not null default now(),
  constraint recording_downloads_kind_check check (kind in ('file', 'replay', 'export', 'foxglove')),
  constraint recording_downloads_recording_id_foreign foreign key (recording_id) references recordings (id) on delete cascade,
  constraint recording_downloads_user_id_foreign foreign key (user_id) references users (id) on update no action on delete no action
);
create index recording_downloads_by_recording on recording_downloads (recording_id, at desc);

create table recording_bookmarks (
  id uuid primary key,
  recording_id uuid not null,
  user_id uuid not null,
  at timestamptz(3) not null,
  label text not null,
  created_at timestamptz(3) not null default now(),
  constraint recording_bookmarks_recording_id_foreign foreign key (recording_id) references recordings (id) on delete cascade,
  constraint recording_bookmarks_user_id_foreign foreign key (user_id) references users (id)
);
create index recording_bookmarks_by_recording on recording_bookmarks (recording_id, at);

-- Episodes, datasets and their exports.

create table running_episodes (
  session_id uuid primary key,
  robot_id uuid not null,
  started_at timestamptz(3) not null,
  task text,
  started_by uuid,
  constraint running_episodes_session_id_foreign foreign key (session_id) references sessions (id) on update cascade on delete cascade,
  constraint running_episodes_robot_id_foreign foreign key (robot_id) references robots (id)
);

create table dataset_exports (
  id uuid primary key,
  user_id uuid not null,
  format text not null,
  name text not null,
  version int not null,
  fps int not null,
  cameras jsonb,
  gaps text not null default 'leave_out',
  alignment text not null default 'causal',
  left_out jsonb not null,
  episode_ids jsonb not null,
  status text not null default 'PENDING',
  progress double precision not null default 0,
  plan jsonb,
  state jsonb not null,
  episodes int not null default 0,
  frames bigint not null default '0',
  size_bytes bigint not null default '0',
  commit_sha text,
  error text,
  created_at timestamptz(3) not null,
  finished_at timestamptz(3),
  constraint one_dataset_export_per_version unique (user_id, name, version),
  constraint dataset_exports_finished check ((status in ('READY', 'FAILED')) = (finished_at is not null)),
  constraint dataset_exports_error check ((status = 'FAILED') = (error is not null)),
  constraint dataset_exports_commit check ((status = 'READY') = (commit_sha is not null)),
  constraint dataset_exports_sizes check (version > 0 and episodes >= 0 and frames >= 0 and size_bytes >= 0 and fps between 1 and 120),
  constraint dataset_exports_progress check (progress between 0 and 1),
  constraint dataset_exports_format_check check (format in ('lerobot_v3')),
  constraint dataset_exports_gaps_check check (gaps in ('leave_out', 'cut', 'include')),
  constraint dataset_exports_alignment_check check (alignment in ('causal', 'nearest')),
  constraint dataset_exports_status_check check (status in ('PENDING', 'RUNNING', 'READY', 'FAILED')),
  constraint dataset_exports_user_id_foreign foreign key (user_id) references users (id) on delete cascade
);
create index dataset_exports_by_user on dataset_exports (user_id, created_at desc, id desc);
create index dataset_exports_unfinished on dataset_exports (id) where status in ('PENDING', 'RUNNING');

create table dataset_export_files (
  export_id uuid not null,
  path text not null,
  object_key text not null,
  size_bytes bigint not null,
  sha256 text not null,
  primary key (export_id, path),
  constraint dataset_export_files_size check (size_bytes >= 0),
  constraint dataset_export_files_export_id_foreign foreign key (export_id) references dataset_exports (id) on delete cascade
);

create table datasets (
  id uuid primary key,
  robot_id uuid not null,
  client_id uuid not null,
  episode_count int not null default 0,
  size_bytes bigint not null default '0',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint one_dataset_per_robot unique (robot_id),
  constraint datasets_episode_count check (episode_count >= 0),
  constraint datasets_size_bytes check (size_bytes >= 0),
  constraint datasets_robot_id_foreign foreign key (robot_id) references robots (id),
  constraint datasets_client_id_foreign foreign key (client_id) references users (id)
);
-- No index covers a column that changes with every episode, so that updates stay heap-only (HOT).
create index datasets_by_client on datasets (client_id);

create table episodes (
  id uuid primary key,
  dataset_id uuid not null,
  robot_id uuid not null,
  session_id uuid,
  episode_id text not null,
  started_at timestamptz(3) not null,
  ended_at timestamptz(3) not null,
  size_bytes bigint not null,
  success boolean,
  uri text,
  source text not null default 'robot',
  task text,
  recording_id uuid,
  marked_by uuid,
  created_at timestamptz(3) not null default now(),
  constraint one_episode_per_robot_and_id unique (robot_id, episode_id),
  constraint episodes_times check (ended_at >= started_at),
  constraint episodes_size_bytes check (size_bytes >= 0),
  constraint episodes_source_check check (source in ('robot', 'platform')),
  constraint episodes_dataset_id_foreign foreign key (dataset_id) references datasets (id),
  constraint episodes_robot_id_foreign foreign key (robot_id) references robots (id),
  constraint episodes_session_id_foreign foreign key (session_id) references sessions (id) on delete set null
);
create index episodes_by_dataset on episodes (dataset_id, started_at desc, id desc);
create index episodes_by_recording on episodes (recording_id) where recording_id is not null;
create index episodes_by_session on episodes (session_id, started_at) where session_id is not null;

-- Notifications.

create table push_subscriptions (
  id uuid primary key,
  user_id uuid not null,
  endpoint text not null,
  p256dh text not null,
  auth text not null,
  label text not null,
  created_at timestamptz(3) not null,
  last_success_at timestamptz(3),
  constraint push_subscriptions_user_id_foreign foreign key (user_id) references users (id) on delete cascade
);
create index push_subscriptions_of_user on push_subscriptions (user_id, created_at);
create unique index one_push_subscription_per_endpoint on push_subscriptions (endpoint);

create table notification_settings (
  user_id uuid primary key,
  muted text[] not null,
  quiet_hours jsonb,
  language text,
  constraint notification_settings_muted check (cardinality(muted) <= 100),
  constraint notification_settings_language_check check (language in ('en', 'de')),
  constraint notification_settings_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade
);

create table notification_mails (
  id uuid primary key,
  user_id uuid not null,
  seqs int[] not null,
  more int not null,
  urgent boolean not null,
  created_at timestamptz(3) not null default now(),
  delivered_at timestamptz(3),
  attempts int not null default 0,
  next_attempt_at timestamptz(3) not null default now(),
  last_error text,
  constraint notification_mails_seqs check (cardinality(seqs) > 0),
  constraint notification_mails_user_id_foreign foreign key (user_id) references users (id) on delete cascade
);
create index notification_mails_of_user on notification_mails (user_id, created_at);
create index notification_mails_delivered on notification_mails (delivered_at) where delivered_at is not null;

create table notification_digests (
  user_id uuid primary key,
  from_seq int not null,
  due_at timestamptz(3) not null,
  constraint notification_digests_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade
);

create table notifications (
  user_id uuid not null,
  seq int not null,
  type text not null,
  data jsonb not null,
  created_at timestamptz(3) not null default now(),
  read_at timestamptz(3),
  by_mail boolean not null default false,
  by_push boolean not null default false,
  primary key (user_id, seq),
  constraint notifications_user_id_foreign foreign key (user_id) references users (id) on delete cascade
);
create index notifications_unread on notifications (user_id, seq) where read_at is null;

create table vapid_keys (
  id int primary key,
  public_key text not null,
  sealed_private_key text not null,
  constraint one_vapid_key check (id = 1)
);

-- Webhooks and the event streams of users.

create table outbound_events (
  id bigserial primary key,
  name text not null,
  payload jsonb not null,
  created_at timestamptz(3) not null
);

create table event_streams (
  user_id uuid primary key,
  head bigint not null,
  pruned_to bigint not null default '0',
  subscribed boolean not null default false,
  renewed_at timestamptz(3),
  constraint event_streams_range check (pruned_to between 0 and head),
  constraint event_streams_subscribed check (not subscribed or renewed_at is not null),
  constraint event_streams_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade
);
create index event_streams_subscribed on event_streams (user_id) where subscribed;

create table user_events (
  user_id uuid not null,
  seq bigint not null,
  id uuid not null,
  type text not null,
  data jsonb not null,
  created_at timestamptz(3) not null,
  stored_at timestamptz(3) not null,
  primary key (user_id, seq),
  constraint user_events_user_id_foreign foreign key (user_id) references users (id) on delete cascade
);
create index user_events_by_age on user_events (stored_at);

create table webhooks (
  id uuid primary key,
  user_id uuid not null,
  url text not null,
  description text,
  types text[] not null,
  secret text not null,
  old_secret text,
  old_secret_until timestamptz(3),
  enabled boolean not null default true,
  disabled_reason text,
  disabled_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  last_success_at timestamptz(3),
  failing_since timestamptz(3),
  failures int not null default 0,
  due_at timestamptz(3),
  paused_until timestamptz(3),
  constraint webhooks_disabled check (enabled = (disabled_reason is null)),
  constraint webhooks_disabled_at check (enabled = (disabled_at is null)),
  constraint webhooks_disabled_rests check (enabled or due_at is null),
  constraint webhooks_old_secret check ((old_secret is null) = (old_secret_until is null)),
  constraint webhooks_disabled_reason_check check (disabled_reason in ('user', 'failing', 'gone')),
  constraint webhooks_user_id_foreign foreign key (user_id) references users (id) on delete cascade
);
create index webhooks_by_user on webhooks (user_id, created_at);
create index webhooks_due on webhooks (due_at) where due_at is not null;

create table webhook_deliveries (
  number bigserial primary key,
  id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  seq bigint,
  type text not null,
  data jsonb not null,
  occurred_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  status text not null default 'PENDING',
  attempts int not null default 0,
  next_attempt_at timestamptz(3),
  settled_at timestamptz(3),
  attempted_at timestamptz(3),
  duration_ms int,
  response_status int,
  response_excerpt text,
  error text,
  constraint webhook_deliveries_id unique (id),
  constraint webhook_deliveries_due check ((status = 'PENDING') = (next_attempt_at is not null)),
  constraint webhook_deliveries_open check ((status = 'PENDING') = (settled_at is null)),
  constraint webhook_deliveries_status_check check (status in ('PENDING', 'DELIVERED', 'FAILED')),
  constraint webhook_deliveries_webhook_id_foreign foreign key (webhook_id) references webhooks (id) on delete cascade
);
create index webhook_deliveries_by_webhook on webhook_deliveries (webhook_id, number);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at, number) where status = 'PENDING';
create index webhook_deliveries_settled on webhook_deliveries (settled_at) where settled_at is not null;
create index webhook_deliveries_by_event on webhook_deliveries (webhook_id, event_id);

-- Contact messages and requests for robots.

create table contact_messages (
  id uuid primary key,
  name text not null,
  email text not null,
  category text not null,
  subject text not null,
  message text not null,
  created_at timestamptz(3) not null default now(),
  delivered_at timestamptz(3),
  attempts int not null default 0,
  next_attempt_at timestamptz(3) not null default now(),
  last_error text,
  constraint contact_messages_category_check check (category in ('General Inquiry', 'Bug Report', 'Feature Request', 'Sales & Pricing', 'Partnership', 'Career/Jobs', 'Technical Support', 'Billing & Payments', 'Press & Media', 'Other'))
);
create index contact_messages_newest on contact_messages (created_at desc, id desc);
create index contact_messages_undelivered on contact_messages (created_at desc, id desc) where delivered_at is null;

create table robot_requests (
  id uuid primary key,
  email text not null,
  robot_type text not null,
  name text,
  details text,
  created_at timestamptz(3) not null default now()
);
create index robot_requests_newest on robot_requests (created_at desc, id desc);

-- References to tables that come later.

alter table audit_log add constraint audit_log_actor_id_foreign foreign key (actor_id) references users (id) on delete set null;
alter table invoices add constraint invoices_client_id_foreign foreign key (client_id) references users (id);
alter table ledger_entries add constraint ledger_entries_user_id_foreign foreign key (user_id) references users (id) on delete restrict;
alter table ledger_entries add constraint ledger_entries_session_id_foreign foreign key (session_id) references sessions (id) on delete restrict;
alter table ledger_entries add constraint ledger_entries_payout_id_foreign foreign key (payout_id) references payouts (id) on delete restrict;

-- A robot is IN_SESSION exactly while it has an open session; checked when the transaction commits.

create function check_robot_in_session(checked_robot_id uuid) returns void language plpgsql as $$
declare
  robot_status text;
  has_open_session boolean;
begin
  select status into robot_status from robots where id = checked_robot_id;
  if not found then
    return;
  end if;
  has_open_session := exists (
    select from sessions where robot_id = checked_robot_id and status in ('ACTIVE', 'PAUSED'));
  if (robot_status = 'IN_SESSION') is distinct from has_open_session then
    raise exception 'robot % is % but has_open_session is %', checked_robot_id, robot_status, has_open_session
      using errcode = 'check_violation', constraint = 'robot_in_session_matches_open_session';
  end if;
end $$;

create function robots_in_session_trigger() returns trigger language plpgsql as $$
begin perform check_robot_in_session(new.id); return null; end $$;

create function sessions_in_session_trigger() returns trigger language plpgsql as $$
begin perform check_robot_in_session(new.robot_id); return null; end $$;

create function sessions_left_robot_trigger() returns trigger language plpgsql as $$
begin perform check_robot_in_session(old.robot_id); return null; end $$;

create constraint trigger robots_in_session_insert after insert on robots
  deferrable initially deferred for each row
  when (new.status = 'IN_SESSION')
  execute function robots_in_session_trigger();

create constraint trigger robots_in_session after update of status on robots
  deferrable initially deferred for each row
  when (old.status is distinct from new.status and (old.status = 'IN_SESSION' or new.status = 'IN_SESSION'))
  execute function robots_in_session_trigger();

create constraint trigger sessions_in_session_insert after insert on sessions
  deferrable initially deferred for each row
  when (new.status in ('ACTIVE', 'PAUSED'))
  execute function sessions_in_session_trigger();

create constraint trigger sessions_in_session_update after update of status on sessions
  deferrable initially deferred for each row
  when ((old.status in ('ACTIVE', 'PAUSED')) <> (new.status in ('ACTIVE', 'PAUSED')))
  execute function sessions_in_session_trigger();

create constraint trigger sessions_in_session_move after update of robot_id on sessions
  deferrable initially deferred for each row
  when (old.robot_id <> new.robot_id and new.status in ('ACTIVE', 'PAUSED'))
  execute function sessions_in_session_trigger();

create constraint trigger sessions_left_robot_move after update of robot_id on sessions
  deferrable initially deferred for each row
  when (old.robot_id <> new.robot_id and old.status in ('ACTIVE', 'PAUSED'))
  execute function sessions_left_robot_trigger();

create constraint trigger sessions_left_robot_delete after delete on sessions
  deferrable initially deferred for each row
  when (old.status in ('ACTIVE', 'PAUSED'))
  execute function sessions_left_robot_trigger();

-- Rows of the audit log and the ledger are only added. One change is let through: the audit log loses the reference to a
-- removed user.

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create trigger audit_log_append_only before update or delete on audit_log
  for each row when (pg_trigger_depth() = 0) execute function refuse_change();

create trigger audit_log_not_emptied before truncate on audit_log
  for each statement execute function refuse_change();

create trigger ledger_entries_append_only before update or delete on ledger_entries
  for each row execute function refuse_change();

create trigger ledger_entries_no_truncate before truncate on ledger_entries
  for each statement execute function refuse_change();

-- Every posting adds up to zero when its transaction commits.

create function check_posting_balanced() returns trigger language plpgsql as $$
begin
  if (select sum(amount_cents) from ledger_entries where posting_id = new.posting_id) <> 0 then
    raise exception 'posting % does not add up to zero', new.posting_id
      using errcode = 'check_violation', constraint = 'ledger_posting_balanced';
  end if;
  return null;
end $$;

create constraint trigger ledger_posting_balanced after insert on ledger_entries
  deferrable initially deferred for each row execute function check_posting_balanced();

-- What an operator has earned, and what is reserved for a payout, never falls below nothing. The row of the user is locked
-- before their lines are added up, so that of two postings at the same time the second one sees the first.

create function refuse_overdraft() returns trigger language plpgsql as $$
begin
  perform from users where id = new.user_id for no key update;
  if (select sum(amount_cents) from ledger_entries where user_id = new.user_id and account = new.account) > 0 then
    raise exception 'the % of % is overdrawn', new.account, new.user_id
      using errcode = 'check_violation', constraint = 'ledger_not_overdrawn';
  end if;
  return null;
end $$;

create trigger ledger_not_overdrawn after insert on ledger_entries for each row
  when (new.amount_cents > 0 and new.account in ('operator_pending', 'operator_payable', 'payout_reserved'))
  execute function refuse_overdraft();

-- An invoice that becomes PAID, by hand too, makes its earnings due; the worker releases them.

create function make_earnings_due() returns trigger language plpgsql as $$
begin
  with locked as (
    select id from sessions where invoice_id = new.id and earnings_held_until is not null
    order by id for no key update
  )
  update sessions set earnings_held_until = least(earnings_held_until, new.paid_at)
  from locked where sessions.id = locked.id;
  return null;
end $$;

create trigger invoices_paid_earnings after update of status on invoices
  for each row when (new.status = 'PAID' and old.status <> 'PAID') execute function make_earnings_due();

-- The totals of the public statistics change with every change of a session, in one of 16 rows. The triggers run when the
-- transaction commits: this row is the last lock that it takes.

create function count_session() returns trigger language plpgsql as $$
declare
  more_completed bigint := 0;
  more_ms bigint := 0;
  more_episodes bigint := 0;
begin
  if tg_op <> 'INSERT' then
    more_episodes := more_episodes - old.episodes_collected;
    if old.status = 'COMPLETED' then
      more_completed := more_completed - 1;
      more_ms := more_ms - coalesce((extract(epoch from old.ended_at - old.started_at) * 1000)::bigint, 0);
    end if;
  end if;
  if tg_op <> 'DELETE' then
    more_episodes := more_episodes + new.episodes_collected;
    if new.status = 'COMPLETED' then
      more_completed := more_completed + 1;
      more_ms := more_ms + coalesce((extract(epoch from new.ended_at - new.started_at) * 1000)::bigint, 0);
    end if;
  end if;
  if more_completed <> 0 or more_ms <> 0 or more_episodes <> 0 then
    update session_totals
      set completed = completed + more_completed, teleop_ms = teleop_ms + more_ms, episodes = episodes + more_episodes
      where shard = pg_backend_pid() % 16;
  end if;
  return null;
end $$;

create constraint trigger sessions_counted_insert after insert on sessions
  deferrable initially deferred for each row
  when (new.status = 'COMPLETED' or new.episodes_collected <> 0)
  execute function count_session();

create constraint trigger sessions_counted_update
  after update of status, started_at, ended_at, episodes_collected on sessions
  deferrable initially deferred for each row
  when ((old.status = 'COMPLETED') <> (new.status = 'COMPLETED')
    or old.episodes_collected <> new.episodes_collected
    or (new.status = 'COMPLETED'
      and (old.started_at, old.ended_at) is distinct from (new.started_at, new.ended_at)))
  execute function count_session();

create constraint trigger sessions_counted_delete after delete on sessions
  deferrable initially deferred for each row
  when (old.status = 'COMPLETED' or old.episodes_collected <> 0)
  execute function count_session();

-- The database itself copies the names, in the statement that ends a session or makes an invoice.

create function record_session_names() returns trigger language plpgsql as $$
begin
  select name, robot_type into new.recorded_robot_name, new.recorded_robot_type from robots where id = new.robot_id;
  select display_name into new.recorded_operator_name from users where id = new.operator_id;
  select display_name into new.recorded_client_name from users where id = new.client_id;
  return new;
end $$;

create trigger sessions_record_names_inserted before insert on sessions for each row
  when (new.status in ('COMPLETED', 'CANCELLED') and new.recorded_robot_name is null)
  execute function record_session_names();

create trigger sessions_record_names before update of status on sessions for each row
  when (new.status in ('COMPLETED', 'CANCELLED') and old.status not in ('COMPLETED', 'CANCELLED'))
  execute function record_session_names();

create function record_billing_name() returns trigger language plpgsql as $$
begin
  select coalesce(p.company_name, u.display_name), p.country, p.vat_id
    into new.billing_name, new.billing_country, new.billing_vat_id
    from users u left join client_profiles p on p.user_id = u.id where u.id = new.client_id;
  return new;
end $$;

create trigger invoices_record_billing_name before insert on invoices for each row
  when (new.billing_name is null) execute function record_billing_name();

-- The names of a session stay when it is over, its amounts when it is charged, and its invoice when there is one.

create function refuse_record_change() returns trigger language plpgsql as $$
begin
  raise exception 'the record % does not change any more', old.id
    using errcode = 'check_violation', constraint = tg_argv[0];
end $$;

create trigger sessions_names_fixed
  before update of recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name on sessions
  for each row when (
    old.status in ('COMPLETED', 'CANCELLED') and
    (old.recorded_robot_name, old.recorded_robot_type, old.recorded_operator_name, old.recorded_client_name)
    is distinct from
    (new.recorded_robot_name, new.recorded_robot_type, new.recorded_operator_name, new.recorded_client_name)
  )
  execute function refuse_record_change('sessions_names_fixed');

create trigger sessions_charge_fixed
  before update of status, robot_id, operator_id, client_id, started_at, ended_at, active_ms, outage_ms, paused_ms,
    plan_id, client_rate_cents_per_minute, operator_share_percent, billable_minutes, client_charge_cents,
    operator_earnings_cents on sessions
  for each row when (
    old.client_charge_cents is not null and
    (old.status, old.robot_id, old.operator_id, old.client_id, old.started_at, old.ended_at, old.active_ms,
      old.outage_ms, old.paused_ms, old.plan_id, old.client_rate_cents_per_minute, old.operator_share_percent,
      old.billable_minutes, old.client_charge_cents, old.operator_earnings_cents)
    is distinct from
    (new.status, new.robot_id, new.operator_id, new.client_id, new.started_at, new.ended_at, new.active_ms,
      new.outage_ms, new.paused_ms, new.plan_id, new.client_rate_cents_per_minute, new.operator_share_percent,
      new.billable_minutes, new.client_charge_cents, new.operator_earnings_cents)
  )
  execute function refuse_record_change('sessions_charge_fixed');

create function refuse_other_invoice() returns trigger language plpgsql as $$
begin
  if old.invoice_id is not null or (select status from invoices where id = new.invoice_id) <> 'DRAFT' then
    raise exception 'the sessions on an issued invoice do not change'
      using errcode = 'check_violation', constraint = 'sessions_invoice_fixed';
  end if;
  return new;
end $$;

create trigger sessions_invoice_fixed before update of invoice_id on sessions for each row
  when (old.invoice_id is distinct from new.invoice_id) execute function refuse_other_invoice();

-- An invoice that was issued changes only in how it is paid; one that is PAID or VOID not even in that.

create trigger invoices_issued_fixed before update on invoices
  for each row when (
    old.status <> 'DRAFT' and (
      new.status = 'DRAFT' or
      (old.client_id, old.month, old.currency, old.total_cents, old.session_count, old.minutes, old.issued_at,
        old.created_at, old.billing_name, old.billing_country, old.billing_vat_id)
      is distinct from
      (new.client_id, new.month, new.currency, new.total_cents, new.session_count, new.minutes, new.issued_at,
        new.created_at, new.billing_name, new.billing_country, new.billing_vat_id) or
      (old.status in ('PAID', 'VOID') and (old.status, old.paid_at) is distinct from (new.status, new.paid_at))
    )
  )
  execute function refuse_record_change('invoices_issued_fixed');

create trigger invoices_issued_kept before delete on invoices
  for each row when (old.status <> 'DRAFT') execute function refuse_record_change('invoices_issued_fixed');

-- Nobody earns with their own robot. These are triggers, not checks: a row that was paid out under an older rule stays.

create trigger sessions_own_not_earned before update of operator_earnings_cents on sessions
  for each row when (
    new.operator_id = new.client_id and new.operator_earnings_cents > 0
    and old.operator_earnings_cents is distinct from new.operator_earnings_cents
  )
  execute function refuse_record_change('sessions_own_not_earned');

create trigger sessions_own_not_earned_inserted before insert on sessions
  for each row when (new.operator_id = new.client_id and new.operator_earnings_cents > 0)
  execute function refuse_record_change('sessions_own_not_earned');

-- A stop without its requester gets one, and a stop that is taken away leaves nothing behind.

create function complete_stop_requester() returns trigger language plpgsql as $$
begin
  if new.stop_at is null then
    new.stop_by_role := null;
    new.stop_by_owner := false;
    new.stop_clear_requested_at := null;
  elsif new.stop_by_role is null and new.stop_by_id is not null then
    new.stop_by_role := case new.stop_by_id when new.client_id then 'client' when new.operator_id then 'operator' else 'admin' end;
    new.stop_by_owner := new.stop_by_owner or new.stop_by_id = new.client_id or new.stop_by_id <> new.operator_id;
  end if;
  return new;
end $$;

create trigger sessions_stop_requester before insert or update of stop_at, stop_by_id on sessions
  for each row execute function complete_stop_requester();

-- A booking without a length takes an hour.

create function default_planned_minutes() returns trigger language plpgsql as $$
begin
  new.planned_minutes := 60;
  return new;
end $$;

create trigger sessions_planned_default before insert on sessions
  for each row when (new.status = 'PENDING' and new.planned_minutes is null) execute function default_planned_minutes();

-- Every change of what a user may do raises their permissions_version, by which processes notice it. The admin role follows
-- from the verified address. The time is that of the statement: the transaction may have begun long ago.

create function users_note_permissions() returns trigger language plpgsql as $$
begin
  new.permissions_version := old.permissions_version + 1;
  new.permissions_changed_at := clock_timestamp();
  return new;
end $$;

create trigger users_permissions
  before update of is_client, is_operator, email, email_verified, suspended_at on users
  for each row when (
    (old.is_client, old.is_operator, old.email, old.email_verified, old.suspended_at)
    is distinct from (new.is_client, new.is_operator, new.email, new.email_verified, new.suspended_at)
  )
  execute function users_note_permissions();

create function certifications_note_permissions() returns trigger language plpgsql as $$
begin
  update users set permissions_version = permissions_version + 1, permissions_changed_at = clock_timestamp()
  where id in (old.operator_id, new.operator_id);
  return null;
end $$;

create trigger certifications_permissions_gained after insert on certifications
  for each row when (new.status = 'APPROVED') execute function certifications_note_permissions();

create trigger certifications_permissions_changed after update of status, robot_type, operator_id on certifications
  for each row when (
    'APPROVED' in (old.status, new.status)
    and (old.status, old.robot_type, old.operator_id) is distinct from (new.status, new.robot_type, new.operator_id)
  )
  execute function certifications_note_permissions();

create trigger certifications_permissions_lost after delete on certifications
  for each row when (old.status = 'APPROVED') execute function certifications_note_permissions();

-- The first rows.

insert into pricing_plans (id, name, description, client_rate_cents_per_minute, operator_share_percent, is_default, "position") values
  ('standard', 'Standard', 'For every robot, from the first minute: pay for active minutes only.', 50, 70, true, 1),
  ('fleet', 'Fleet', 'For owners of many robots, at a lower rate. Ask us to be put on it.', 40, 75, false, 2);

insert into session_totals (shard) select generate_series(0, 15);

-- The robots that are supported from the start. Degrees of freedom are actuated axes without grippers; a base that drives
-- counts the directions it can move in (two with two driven sides, three when it can move sideways).

insert into robot_models
  (id, robot_type, name, manufacturer, category, degrees_of_freedom, control_modes, notes)
values
  ('so-101', 'so-101', 'SO-101', 'The Robot Studio', 'arm', 5,
    '{joint_position,gripper}', 'Open design, made with Hugging Face; six servos: five joints and the gripper.'),
  ('koch-v1-1', 'koch-v1-1', 'Koch v1.1', 'Open design by Alexander Koch and Jess Moss', 'arm', 5,
    '{joint_position,gripper}', 'Six Dynamixel servos: five joints and the gripper.'),
  ('widowx-250-s', 'widowx-250-s', 'WidowX 250 S', 'Trossen Robotics', 'arm', 6,
    '{joint_position,gripper}', 'The six-axis version; the WidowX 250 without S has five axes.'),
  ('viperx-300-s', 'viperx-300-s', 'ViperX 300 S', 'Trossen Robotics', 'arm', 6,
    '{joint_position,gripper}', 'The six-axis version; the follower arm of ALOHA.'),
  ('aloha-2', 'aloha-2', 'ALOHA 2', 'Trossen Robotics', 'bimanual', 12,
    '{joint_position,gripper}', 'Two ViperX 300 S arms of six axes each; design by Google DeepMind and Stanford.'),
  ('piper', 'piper', 'PiPER', 'AgileX Robotics', 'arm', 6,
    '{joint_position,cartesian_pose,gripper}', null),
  ('franka-research-3', 'franka-research-3', 'Franka Research 3', 'Franka Robotics', 'arm', 7,
    '{joint_position,joint_velocity,cartesian_pose,cartesian_velocity,gripper}', 'Gripper: the Franka Hand.'),
  ('ur5e', 'ur5e', 'UR5e', 'Universal Robots', 'arm', 6,
    '{joint_position,joint_velocity,cartesian_pose,cartesian_velocity}', 'Sold without a gripper.'),
  ('xarm-6', 'xarm-6', 'xArm 6', 'UFACTORY', 'arm', 6,
    '{joint_position,joint_velocity,cartesian_pose,cartesian_velocity,gripper}', null),
  ('kinova-gen3', 'kinova-gen3', 'Gen3', 'Kinova', 'arm', 7,
    '{joint_position,joint_velocity,cartesian_pose,cartesian_velocity,gripper}',
    'The seven-axis version; there is one with six axes.'),
  ('stretch-3', 'stretch-3', 'Stretch 3', 'Hello Robot', 'mobile_manipulator', 9,
    '{joint_position,base_velocity,gripper}',
    'Base 2, lift 1, telescoping arm 1, wrist 3 (yaw, pitch, roll), head 2 (pan, tilt).'),
  ('lekiwi', 'lekiwi', 'LeKiwi', 'SIGRobotics UIUC', 'mobile_manipulator', 8,
    '{joint_position,base_velocity,gripper}', 'A base with three omnidirectional wheels and an SO-101 arm.'),
  ('reachy-2', 'reachy-2', 'Reachy 2', 'Pollen Robotics', 'humanoid', 20,
    '{joint_position,cartesian_pose,base_velocity,gripper}',
    'Two arms of seven axes, a neck of three, an omnidirectional base; antennas not counted.'),
  ('unitree-g1', 'unitree-g1', 'G1', 'Unitree Robotics', 'humanoid', 23,
    '{joint_position,base_velocity}', 'The basic version; EDU versions have up to 43 axes.'),
  ('unitree-go2', 'unitree-go2', 'Go2', 'Unitree Robotics', 'quadruped', 12,
    '{joint_position,base_velocity}', 'Three axes a leg; joint control needs the EDU version.'),
  ('boston-dynamics-spot', 'boston-dynamics-spot', 'Spot', 'Boston Dynamics', 'quadruped', 12,
    '{base_velocity}', 'Three axes a leg; without the Spot Arm.'),
  ('turtlebot-4', 'turtlebot-4', 'TurtleBot 4', 'Clearpath Robotics', 'mobile_base', 2,
    '{base_velocity}', 'Differential drive on an iRobot Create 3.'),
  ('clearpath-jackal', 'clearpath-jackal', 'Jackal', 'Clearpath Robotics', 'mobile_base', 2,
    '{base_velocity}', 'Four wheels, steered by skidding.'),
  ('diffdrive-demo', 'diffdrive-demo', 'Demo robot', 'Wheelhouse', 'mobile_base', 2,
    '{base_velocity}', 'Simulated: two wheels on a flat floor. The demo and the SDK bring it.');

-- The commands and the telemetry of the simulated robot of the demo and the SDK.

update robot_models set
  control_schema = $json${
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
      "linear_mps": {"type": "number", "minimum": -1, "maximum": 1, "x-unit": "m/s", "x-speed": true},
      "angular_radps": {"type": "number", "minimum": -1.5, "maximum": 1.5, "x-unit": "rad/s", "x-speed": true}
    }
  }$json$,
  telemetry_schema = $json${
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["pose", "velocity", "battery"],
    "properties": {
      "pose": {
        "type": "object",
        "x-kind": "pose",
        "required": ["x_m", "y_m", "heading_rad"],
        "properties": {
          "x_m": {"type": "number", "x-unit": "m"},
          "y_m": {"type": "number", "x-unit": "m"},
          "heading_rad": {"type": "number", "x-unit": "rad"}
        }
      },
      "velocity": {
        "type": "object",
        "x-kind": "velocity",
        "required": ["linear_mps", "angular_radps"],
        "properties": {
          "linear_mps": {"type": "number", "x-unit": "m/s"},
          "angular_radps": {"type": "number", "x-unit": "rad/s"}
        }
      },
      "battery": {"type": "number", "x-kind": "battery", "minimum": 0, "maximum": 1},
      "nearest_obstacle": {
        "type": "object",
        "title": "Nearest obstacle",
        "x-kind": "obstacles",
        "required": ["distance_m", "bearing_rad"],
        "properties": {
          "distance_m": {"type": "number", "x-unit": "m", "minimum": 0},
          "bearing_rad": {"type": "number", "x-unit": "rad"}
        }
      },
      "standing": {"type": "boolean", "title": "Halted"},
      "bumped": {"type": "boolean"}
    }
  }$json$
where id = 'diffdrive-demo';
