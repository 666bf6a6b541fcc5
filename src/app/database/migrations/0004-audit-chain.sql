-- The audit log as evidence: rows of an organization form a chain of hashes. A row is added in the transaction of its action, without a
-- place in the chain. A periodic task seals it afterwards: gives it the next number of the organization and its hashes.

drop trigger audit_log_append_only on audit_log;

alter table audit_log
  -- The id of a removed user stays. It is in the hash, and names nobody any more.
  drop constraint audit_log_actor_id_foreign,
  -- Null: the row concerns the platform only. It is in no chain. No foreign key: rows outlive their organization.
  add column organization_id uuid,
  -- 'session', or 'api_key:' with the id of the key. Null: unknown, or none, as with work of the platform.
  add column credential text,
  add column retention text,
  add column seq bigint,
  add column content_hash text,
  add column prev_hash text,
  add column hash text;

-- Rows from before: the organization and the class that audit() gives today.

update audit_log set
  organization_id = case
    when subject_type = 'robot' then (select owner_id from robots where robots.id::text = subject_id)
    -- The charge of a session has the earnings of its operator, which are no business of the client.
    when subject_type = 'session' and action <> 'session.charged' then (select client_id from sessions where sessions.id::text = subject_id)
    when subject_type = 'recording' then (select client_id from recordings where recordings.id::text = subject_id)
    when subject_type = 'invoice' then (select client_id from invoices where invoices.id::text = subject_id)
    when subject_type = 'webhook' then (select user_id from webhooks where webhooks.id::text = subject_id)
    when subject_type = 'api_key' then (select organization_id from api_keys where api_keys.id::text = subject_id)
    when subject_type in ('client', 'user') then (select id from organizations where organizations.id::text = subject_id)
    when subject_type = 'payout' then (select operator_id from payouts where payouts.id::text = subject_id)
    when subject_type = 'certification' then (select operator_id from certifications where certifications.id::text = subject_id)
  end,
  retention = case
    when action in ('session.stopped', 'session.stop_cleared', 'robot.video_limit_changed', 'robot.recording_changed')
      or action like 'robot\_model.%' then 'years_5'
    when action ~ '^(user|api_key|client|invoice|payout)\.' or action in ('robot.token_rotated', 'robot.pairing_code_created', 'robot.paired', 'session.charged')
      then 'year_1'
    else 'days_90'
  end;

alter table audit_log
  alter column retention set not null,
  add constraint audit_log_retention_check check (retention in ('days_90', 'year_1', 'years_5')),
  add constraint audit_log_sealed_together check (
    num_nulls(seq, content_hash, prev_hash, hash) in (0, 4) and (seq is null or organization_id is not null)),
  add constraint one_audit_row_per_number unique (organization_id, seq);
create index audit_log_of_organization on audit_log (organization_id, id);
create index audit_log_by_retention on audit_log (retention, at);
create index audit_log_unsealed on audit_log (organization_id, id) where seq is null and organization_id is not null;

-- The newest sealed row of an organization. Its lock makes tasks that seal at the same time wait for each other.

create table audit_heads (
  organization_id uuid primary key,
  seq bigint not null,
  hash text not null
);

-- What stays of a row after its time, so that the chain can still be verified.

create table audit_log_deleted (
  organization_id uuid not null,
  seq bigint not null,
  at timestamptz(3) not null,
  retention text not null,
  content_hash text not null,
  prev_hash text not null,
  hash text not null,
  primary key (organization_id, seq),
  constraint audit_log_deleted_retention_check check (retention in ('days_90', 'year_1', 'years_5'))
);

-- The two changes that a row of the audit log may have: it is sealed once, and it is deleted after its time, which leaves its link.

create function guard_audit_log() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    if old.seq is null and new.seq is not null
      and (new.id, new.at, new.organization_id, new.actor_id, new.credential, new.action, new.subject_type, new.subject_id, new.data, new.retention)
        is not distinct from
        (old.id, old.at, old.organization_id, old.actor_id, old.credential, old.action, old.subject_type, old.subject_id, old.data, old.retention)
    then
      return new;
    end if;
  elsif (old.organization_id is null or old.seq is not null) and old.at < now() - (
    case old.retention when 'days_90' then interval '2160 hours' when 'year_1' then interval '8784 hours' else interval '43848 hours' end)
  then
    if old.seq is not null then
      insert into audit_log_deleted (organization_id, seq, at, retention, content_hash, prev_hash, hash)
        values (old.organization_id, old.seq, old.at, old.retention, old.content_hash, old.prev_hash, old.hash);
    end if;
    return old;
  end if;
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create trigger audit_log_append_only before update or delete on audit_log
  for each row execute function guard_audit_log();

create trigger audit_log_deleted_append_only before update or delete on audit_log_deleted
  for each row execute function refuse_change();
create trigger audit_log_deleted_not_emptied before truncate on audit_log_deleted
  for each statement execute function refuse_change();
