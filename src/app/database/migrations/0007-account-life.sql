-- People download what the platform holds about them and delete their accounts; organizations grant others the data of a robot.

alter table users
  -- When the person deleted the account. The row stays as a pseudonym: sessions, invoices and the ledger refer to it.
  add column deleted_at timestamptz(3),
  -- Nothing of the person is left, and no credential works.
  add constraint users_deleted check (deleted_at is null or (
    email is null and avatar_url is null and suspended_at is not null and not is_client and not is_operator));

-- Sign-ins of deleted accounts, as keyed hashes: a session token from before the deletion must not make a new account.
create table ended_sign_ins (
  sign_in_hash text primary key,
  ended_at timestamptz(3) not null
);
create index ended_sign_ins_by_age on ended_sign_ins (ended_at);

create table data_exports (
  id uuid primary key,
  user_id uuid not null,
  status text not null default 'PENDING',
  rows int not null default 0,
  bytes bigint not null default '0',
  chunks int not null default 0,
  -- The position after the last chunk: the part of the file, and the last key in it.
  part int not null default 0,
  last_key text,
  error text,
  created_at timestamptz(3) not null,
  finished_at timestamptz(3),
  expires_at timestamptz(3) not null,
  constraint data_exports_finished check ((status in ('READY', 'FAILED')) = (finished_at is not null)),
  constraint data_exports_error check ((status = 'FAILED') = (error is not null)),
  constraint data_exports_sizes check (rows >= 0 and bytes >= 0 and chunks >= 0 and part >= 0),
  constraint data_exports_status_check check (status in ('PENDING', 'RUNNING', 'READY', 'FAILED')),
  constraint data_exports_user_id_foreign foreign key (user_id) references users (id) on delete cascade
);
create index data_exports_by_user on data_exports (user_id, created_at);
create index data_exports_by_expiry on data_exports (expires_at);

-- The chunks are compressed already: the database stores them as they are.
create table data_export_chunks (
  export_id uuid not null,
  number int not null,
  data bytea storage external not null,
  primary key (export_id, number),
  constraint data_export_chunks_export_id_foreign foreign key (export_id) references data_exports (id) on delete cascade
);

-- Finds what a person wrote, for an export and for a deletion.
create index messages_by_sender on messages (sender_id, id);

create table data_grants (
  id uuid primary key,
  organization_id uuid not null,
  robot_id uuid not null,
  to_organization_id uuid not null,
  scopes text[] not null,
  created_by_id uuid,
  created_at timestamptz(3) not null default now(),
  -- Null: until it is revoked.
  expires_at timestamptz(3),
  constraint one_data_grant_per_robot unique (to_organization_id, robot_id),
  constraint data_grants_to_another check (organization_id <> to_organization_id),
  constraint data_grants_scopes check (scopes <> '{}' and scopes <@ array['recordings', 'datasets', 'log', 'health']),
  constraint data_grants_organization_id_foreign foreign key (organization_id) references organizations (id) on delete cascade,
  constraint data_grants_robot_id_foreign foreign key (robot_id) references robots (id) on delete cascade,
  constraint data_grants_to_organization_id_foreign foreign key (to_organization_id) references organizations (id) on delete cascade,
  constraint data_grants_created_by_id_foreign foreign key (created_by_id) references users (id) on delete set null
);
create index data_grants_given on data_grants (organization_id, created_at desc, id desc);
create index data_grants_of_robot on data_grants (robot_id);
create index data_grants_by_expiry on data_grants (expires_at) where expires_at is not null;

-- A grant that ends is a permission lost by every member of the organization that had it: sockets and downloads end by the same
-- mechanism. One statement for all rows, in the order of the users, so that two of them do not deadlock.

create function end_data_grants() returns trigger language plpgsql as $$
begin
  with members as (
    select users.id from users
    where users.id in (
      select member.user_id from organization_members as member
      where member.organization_id in (select to_organization_id from ended))
    order by users.id for no key update
  )
  update users set permissions_version = permissions_version + 1, permissions_changed_at = clock_timestamp()
  from members where users.id = members.id;
  return null;
end $$;
create trigger data_grants_ended after delete on data_grants
  referencing old table as ended for each statement execute function end_data_grants();
create trigger data_grants_narrowed after update on data_grants
  referencing old table as ended for each statement execute function end_data_grants();

-- A robot that another organization gets takes no grants along.

create function end_grants_of_robot() returns trigger language plpgsql as $$
begin
  delete from data_grants where robot_id = new.id and organization_id <> new.owner_id;
  return null;
end $$;
create trigger robots_transferred_grants after update of owner_id on robots
  for each row when (old.owner_id <> new.owner_id) execute function end_grants_of_robot();

-- A deleted account gets no robots: the reference to the organization has waited for a deletion that runs.

create function refuse_deleted_owner() returns trigger language plpgsql as $$
begin
  if exists (select from users where id = new.owner_id and deleted_at is not null) then
    raise exception 'the account % is deleted', new.owner_id
      using errcode = 'check_violation', constraint = 'robots_owner_not_deleted';
  end if;
  return null;
end $$;
create trigger robots_owner_not_deleted after insert or update of owner_id on robots
  for each row execute function refuse_deleted_owner();

-- The names of a session stay, with one exception: those of a person who deleted the account become those of a pseudonym.

create function keep_session_names() returns trigger language plpgsql as $$
begin
  if (old.recorded_robot_name, old.recorded_robot_type) is not distinct from (new.recorded_robot_name, new.recorded_robot_type)
    and (old.recorded_operator_name = new.recorded_operator_name or exists (
      select from users where id = old.operator_id and deleted_at is not null and display_name = new.recorded_operator_name))
    and (old.recorded_client_name = new.recorded_client_name or exists (
      select from users where id = old.client_id and deleted_at is not null and display_name = new.recorded_client_name))
  then
    return new;
  end if;
  raise exception 'the record % does not change any more', old.id
    using errcode = 'check_violation', constraint = 'sessions_names_fixed';
end $$;
drop trigger sessions_names_fixed on sessions;
create trigger sessions_names_fixed
  before update of recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name on sessions
  for each row when (
    old.status in ('COMPLETED', 'CANCELLED') and
    (old.recorded_robot_name, old.recorded_robot_type, old.recorded_operator_name, old.recorded_client_name)
    is distinct from
    (new.recorded_robot_name, new.recorded_robot_type, new.recorded_operator_name, new.recorded_client_name)
  )
  execute function keep_session_names();
