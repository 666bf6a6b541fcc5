-- Organizations own robots, sessions and invoices. Every user has a personal organization with the same id, so that the columns that
-- held a client hold an organization now, with the same values.

create table organizations (
  id uuid primary key,
  name text not null,
  kind text not null default 'team',
  -- The pricing plan. Null: the current default plan.
  plan_id text,
  -- Sessions of members end after this time; null for as long as the identity provider says.
  session_hours int,
  created_at timestamptz(3) not null default now(),
  constraint organizations_kind_check check (kind in ('personal', 'team')),
  constraint organizations_session_hours_check check (session_hours between 1 and 720),
  constraint organizations_plan_id_foreign foreign key (plan_id) references pricing_plans (id) on delete restrict
);

create table organization_groups (
  id uuid primary key,
  organization_id uuid not null,
  name text not null,
  created_at timestamptz(3) not null default now(),
  constraint organization_groups_of unique (organization_id, id),
  constraint organization_groups_organization_id_foreign foreign key (organization_id) references organizations (id) on delete cascade
);
create unique index one_group_per_name on organization_groups (organization_id, lower(name));

create table organization_members (
  organization_id uuid not null,
  user_id uuid not null,
  role text not null,
  -- The groups whose robots the member may see; null for all robots.
  group_ids uuid[],
  created_at timestamptz(3) not null default now(),
  primary key (organization_id, user_id),
  constraint organization_members_role_check check (role in ('owner', 'admin', 'supervisor', 'operator', 'viewer', 'billing')),
  constraint organization_members_owner_not_narrowed check (role <> 'owner' or group_ids is null),
  constraint organization_members_organization_id_foreign foreign key (organization_id) references organizations (id) on update cascade on delete cascade,
  constraint organization_members_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade
);
create index organization_members_of_user on organization_members (user_id, created_at, organization_id);
create index organization_members_newest on organization_members (organization_id, created_at, user_id);
create index organization_members_by_role on organization_members (organization_id, role) where role in ('owner', 'admin', 'supervisor', 'operator', 'billing');

create table organization_invitations (
  id uuid primary key,
  organization_id uuid not null,
  email text not null,
  role text not null,
  group_ids uuid[],
  -- Its token is a signature of the id: a copy of the database does not disclose it.
  invited_by_id uuid,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  accepted_at timestamptz(3),
  delivered_at timestamptz(3),
  attempts int not null default 0,
  next_attempt_at timestamptz(3) not null default now(),
  last_error text,
  constraint organization_invitations_role_check check (role in ('owner', 'admin', 'supervisor', 'operator', 'viewer', 'billing')),
  constraint organization_invitations_organization_id_foreign foreign key (organization_id) references organizations (id) on delete cascade,
  constraint organization_invitations_invited_by_id_foreign foreign key (invited_by_id) references users (id) on delete set null
);
create unique index one_open_invitation_per_address on organization_invitations (organization_id, lower(email collate "C")) where accepted_at is null;

-- A program is a user without a sign-in: it has keys of its own, and its actions have its name.

alter table users
  add column service_of_id uuid,
  add constraint users_service_of_id_foreign foreign key (service_of_id) references organizations (id) on delete cascade;
create index users_service_accounts on users (service_of_id, created_at, id) where service_of_id is not null;

alter table api_keys
  add column organization_id uuid,
  -- Null: all scopes, as the keys from before scopes.
  add column scopes text[],
  add column last_used_address text,
  -- The key that this one replaces. It ends at its own time, so that programs have both meanwhile.
  add column replaces_id uuid,
  add constraint api_keys_organization_id_foreign foreign key (organization_id) references organizations (id) on delete cascade;

-- The personal organizations.

insert into organizations (id, name, kind, plan_id, created_at)
  select id, display_name, 'personal', plan_id, created_at from users;
insert into organization_members (organization_id, user_id, role, created_at)
  select id, id, 'owner', created_at from users;
update api_keys set organization_id = user_id;
alter table api_keys alter column organization_id set not null;
alter table users drop column plan_id;

create function create_personal_organization() returns trigger language plpgsql as $$
begin
  insert into organizations (id, name, kind, created_at) values (new.id, new.display_name, 'personal', new.created_at);
  insert into organization_members (organization_id, user_id, role, created_at) values (new.id, new.id, 'owner', new.created_at);
  return null;
end $$;
create trigger users_personal_organization after insert on users for each row
  when (new.service_of_id is null) execute function create_personal_organization();

-- A person whose organization still has robots, sessions, invoices or a balance cannot be deleted.
create function remove_personal_organization() returns trigger language plpgsql as $$
begin
  delete from organizations where id = old.id and kind = 'personal';
  return null;
end $$;
create trigger users_personal_organization_removed after delete on users for each row
  when (old.service_of_id is null) execute function remove_personal_organization();

create function rename_personal_organization() returns trigger language plpgsql as $$
begin
  update organizations set name = new.display_name where id = new.id and kind = 'personal';
  return null;
end $$;
create trigger users_personal_organization_name after update of display_name on users for each row
  when (old.display_name is distinct from new.display_name) execute function rename_personal_organization();

-- What a client had belongs to the organization.

alter table robots
  drop constraint robots_owner_id_foreign,
  add constraint robots_owner_id_foreign foreign key (owner_id) references organizations (id),
  add column group_id uuid,
  add column operators text not null default 'both',
  add constraint robots_operators_check check (operators in ('own', 'marketplace', 'both')),
  add constraint robots_group_foreign foreign key (owner_id, group_id) references organization_groups (organization_id, id);
create index robots_by_group on robots (group_id, created_at desc, id desc) where deleted_at is null and group_id is not null;

alter table sessions
  drop constraint sessions_client_id_foreign,
  add constraint sessions_client_id_foreign foreign key (client_id) references organizations (id),
  -- Whether the operator drives as a member of the robot's organization, which costs nothing.
  add column own_operator boolean not null default false,
  add constraint sessions_own_operator_free check (not own_operator or (
    coalesce(client_charge_cents, 0) = 0 and coalesce(operator_earnings_cents, 0) = 0 and coalesce(client_rate_cents_per_minute, 0) = 0));
-- Counts of an operator leave out what was driven for a team.
drop index sessions_by_operator_status;
create index sessions_by_operator_status on sessions (operator_id, status, created_at desc, id desc) include (robot_id, client_id, own_operator);

alter table invoices
  drop constraint invoices_client_id_foreign,
  add constraint invoices_client_id_foreign foreign key (client_id) references organizations (id);
alter table recordings
  drop constraint recordings_client_id_foreign,
  add constraint recordings_client_id_foreign foreign key (client_id) references organizations (id);
alter table datasets
  drop constraint datasets_client_id_foreign,
  add constraint datasets_client_id_foreign foreign key (client_id) references organizations (id);

-- A robot that changes its owner begins another dataset.
alter table datasets
  drop constraint one_dataset_per_robot,
  add constraint one_dataset_per_robot unique (robot_id, client_id);

alter table client_profiles drop constraint client_profiles_user_id_foreign;
alter table client_profiles rename column user_id to organization_id;
alter table client_profiles
  add constraint client_profiles_organization_id_foreign foreign key (organization_id) references organizations (id) on update cascade on delete cascade;
-- The account of a client is that of the organization, the account of an operator that of the personal one.
alter table ledger_entries
  drop constraint ledger_entries_user_id_foreign,
  add constraint ledger_entries_user_id_foreign foreign key (user_id) references organizations (id) on delete restrict;
alter table stripe_accounts
  drop constraint stripe_accounts_user_id_foreign,
  add constraint stripe_accounts_user_id_foreign foreign key (user_id) references organizations (id) on delete restrict;
alter table dataset_exports
  drop constraint dataset_exports_user_id_foreign,
  add constraint dataset_exports_user_id_foreign foreign key (user_id) references organizations (id) on delete cascade;
alter table webhooks
  drop constraint webhooks_user_id_foreign,
  add constraint webhooks_user_id_foreign foreign key (user_id) references organizations (id) on delete cascade;
alter table event_streams
  drop constraint event_streams_user_id_foreign,
  add constraint event_streams_user_id_foreign foreign key (user_id) references organizations (id) on update cascade on delete cascade;
alter table user_events
  drop constraint user_events_user_id_foreign,
  add constraint user_events_user_id_foreign foreign key (user_id) references organizations (id) on delete cascade;
alter table session_exports add column organization_id uuid;
update session_exports set organization_id = user_id;
alter table session_exports
  alter column organization_id set not null,
  add constraint session_exports_organization_id_foreign foreign key (organization_id) references organizations (id) on delete cascade;

create or replace function record_session_names() returns trigger language plpgsql as $$
begin
  select name, robot_type into new.recorded_robot_name, new.recorded_robot_type from robots where id = new.robot_id;
  select display_name into new.recorded_operator_name from users where id = new.operator_id;
  select name into new.recorded_client_name from organizations where id = new.client_id;
  return new;
end $$;

create or replace function record_billing_name() returns trigger language plpgsql as $$
begin
  select coalesce(p.company_name, o.name), p.country, p.vat_id
    into new.billing_name, new.billing_country, new.billing_vat_id
    from organizations o left join client_profiles p on p.organization_id = o.id where o.id = new.client_id;
  return new;
end $$;

create or replace function refuse_overdraft() returns trigger language plpgsql as $$
begin
  perform from organizations where id = new.user_id for no key update;
  if (select sum(amount_cents) from ledger_entries where user_id = new.user_id and account = new.account) > 0 then
    raise exception 'the % of % is overdrawn', new.account, new.user_id
      using errcode = 'check_violation', constraint = 'ledger_not_overdrawn';
  end if;
  return null;
end $$;

create or replace function complete_stop_requester() returns trigger language plpgsql as $$
begin
  if new.stop_at is null then
    new.stop_by_role := null;
    new.stop_by_owner := false;
    new.stop_clear_requested_at := null;
  elsif new.stop_by_role is null and new.stop_by_id is not null then
    new.stop_by_role := case
      when new.stop_by_id = new.client_id then 'client'
      when new.stop_by_id = new.operator_id then 'operator'
      when exists (select from organization_members where organization_id = new.client_id and user_id = new.stop_by_id) then 'client'
      else 'admin' end;
    new.stop_by_owner := new.stop_by_owner or new.stop_by_id = new.client_id or new.stop_by_id <> new.operator_id;
  end if;
  return new;
end $$;

-- A member that is removed or changed has other permissions, which every process notices as those of a user.

create function members_note_permissions() returns trigger language plpgsql as $$
begin
  update users set permissions_version = permissions_version + 1, permissions_changed_at = clock_timestamp()
  where id in (old.user_id, new.user_id);
  return null;
end $$;
create trigger members_permissions_changed after update of role, group_ids on organization_members
  for each row when ((old.role, old.group_ids) is distinct from (new.role, new.group_ids)) execute function members_note_permissions();
create trigger members_permissions_lost after delete on organization_members
  for each row execute function members_note_permissions();

-- Who sees a robot only by its group loses it with the group: sockets and downloads end as after any loss.

create function robots_note_group() returns trigger language plpgsql as $$
begin
  update users set permissions_version = permissions_version + 1, permissions_changed_at = clock_timestamp()
  where id in (
    select user_id from organization_members where organization_id = old.owner_id and group_ids @> array[old.group_id]);
  return null;
end $$;
create trigger robots_group_left after update of group_id on robots
  for each row when (old.group_id is not null and old.group_id is distinct from new.group_id) execute function robots_note_group();

-- The keys of a member end with the membership, and do not come back with another one.

create function revoke_keys_of_member() returns trigger language plpgsql as $$
begin
  update api_keys set revoked_at = now()
  where user_id = old.user_id and organization_id = old.organization_id and revoked_at is null;
  return null;
end $$;
create trigger members_keys_revoked after delete on organization_members
  for each row execute function revoke_keys_of_member();

-- The last owner of an organization stays. The lock of the organization makes two owners who leave at the same time wait for each other.

create function keep_last_owner() returns trigger language plpgsql as $$
begin
  perform from organizations where id = old.organization_id and kind = 'team' for no key update;
  if found and not exists (select from organization_members where organization_id = old.organization_id and role = 'owner') then
    raise exception 'the last owner stays' using errcode = 'check_violation', constraint = 'organization_last_owner';
  end if;
  return null;
end $$;
create trigger members_last_owner_changed after update of role on organization_members
  for each row when (old.role = 'owner' and new.role <> 'owner') execute function keep_last_owner();
create trigger members_last_owner_left after delete on organization_members
  for each row when (old.role = 'owner') execute function keep_last_owner();

-- A group that is deleted leaves no trace in members and robots.

create function leave_group() returns trigger language plpgsql as $$
begin
  update organization_members set group_ids = array_remove(group_ids, old.id)
  where organization_id = old.organization_id and group_ids @> array[old.id];
  update organization_invitations set group_ids = array_remove(group_ids, old.id)
  where organization_id = old.organization_id and group_ids @> array[old.id];
  update robots set group_id = null, link_changed_at = now() where group_id = old.id;
  return old;
end $$;
create trigger organization_groups_left before delete on organization_groups for each row execute function leave_group();
