-- Programs are members of the organization that made them, and never its owner. Their keys are rotated and reported when unused.

alter table api_keys
  -- When the people concerned were notified that the key is unused; null again after a use.
  add column reported_unused_at timestamptz(3);

-- A key is replaced once: two rotations at the same time make one successor.
create unique index one_successor_per_api_key on api_keys (replaces_id) where replaces_id is not null;
-- Keys that just ended, which every process looks for twice a second.
create index api_keys_ending on api_keys (expires_at) where expires_at is not null;

create function check_service_membership() returns trigger language plpgsql as $$
begin
  if exists (
    select from users where id = new.user_id and service_of_id is not null
      and (new.role = 'owner' or service_of_id <> new.organization_id)
  ) then
    raise exception 'a program is a member of its own organization, and never the owner'
      using errcode = 'check_violation', constraint = 'service_account_membership';
  end if;
  return null;
end $$;
create trigger members_service_accounts after insert or update of role on organization_members
  for each row execute function check_service_membership();
