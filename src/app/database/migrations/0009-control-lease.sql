-- Control changes hands: who holds it when, who asks for it, and what that costs.

-- Everybody who held control in a session, or was offered it, or asked for it.
create table control_participants (
  id uuid primary key,
  session_id uuid not null,
  user_id uuid not null,
  -- Whether as a member of the robot's organization. Others, operators of the marketplace, see the session because of this row.
  as_member boolean not null,
  created_at timestamptz(3) not null,
  constraint control_participants_once unique (session_id, user_id),
  constraint control_participants_session_id_foreign foreign key (session_id) references sessions (id),
  constraint control_participants_user_id_foreign foreign key (user_id) references users (id)
);
create index control_participants_by_user on control_participants (user_id, session_id);

-- One row for each epoch of a session; none before its control changes hands for the first time. The open one says who holds control.
create table control_intervals (
  session_id uuid not null,
  epoch int not null,
  -- Null while nobody holds control.
  participant_id uuid,
  user_id uuid,
  kind text,
  -- Why it began; null for the first.
  reason text,
  started_at timestamptz(3) not null,
  ended_at timestamptz(3),
  -- Counters of the session when it began.
  active_ms_before bigint not null,
  outage_ms_before bigint not null,
  -- The price, fixed when it began; zero for those who cost nothing.
  plan_id text,
  client_rate_cents_per_minute int not null,
  operator_share_percent int not null,
  -- What it cost and earned, once the session is over.
  client_charge_cents int,
  operator_earnings_cents int,
  primary key (session_id, epoch),
  constraint control_intervals_epoch check (epoch >= 1),
  constraint control_intervals_kind_check check (kind in ('operator', 'supervisor', 'policy', 'owner')),
  constraint control_intervals_reason_check check (reason in (
    'offered', 'granted', 'taken_over', 'returned', 'revoked', 'lost')),
  constraint control_intervals_holder check (num_nonnulls(participant_id, user_id, kind) in (0, 3)),
  constraint control_intervals_price check (
    client_rate_cents_per_minute >= 0 and operator_share_percent between 0 and 100
    and (coalesce(kind in ('operator', 'supervisor', 'owner'), false) or (client_rate_cents_per_minute = 0 and operator_share_percent = 0))),
  constraint control_intervals_session_id_foreign foreign key (session_id) references sessions (id),
  constraint control_intervals_participant_id_foreign foreign key (participant_id) references control_participants (id) on delete restrict,
  constraint control_intervals_user_id_foreign foreign key (user_id) references users (id) on delete restrict
);
-- Nobody shares control.
create unique index one_holder_per_session on control_intervals (session_id) where ended_at is null;
create index control_intervals_by_holder on control_intervals (user_id) where ended_at is null;

create table control_requests (
  id uuid primary key,
  session_id uuid not null,
  kind text not null,
  from_id uuid not null,
  -- To whom control is offered; null for any supervisor, and for requests.
  to_id uuid,
  reason text,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  closed_at timestamptz(3),
  constraint control_requests_kind_check check (kind in ('offer', 'request')),
  constraint control_requests_to check (kind = 'offer' or to_id is null),
  constraint control_requests_session_id_foreign foreign key (session_id) references sessions (id),
  constraint control_requests_from_id_foreign foreign key (from_id) references users (id),
  constraint control_requests_to_id_foreign foreign key (to_id) references users (id) on delete restrict
);
-- One open question of each person; a newer one replaces it.
create unique index one_control_request_each on control_requests (session_id, from_id) where closed_at is null;

alter table robots
  -- Who holds control after the connection of its holder was lost: the last person before, or nobody.
  add column control_loss text not null default 'previous',
  add constraint robots_control_loss_check check (control_loss in ('previous', 'nobody'));

alter table organizations
  -- How many robots one supervisor may control at a time.
  add column robots_per_supervisor int not null default 8,
  add constraint organizations_robots_per_supervisor check (robots_per_supervisor between 1 and 64);
