-- How many robots an organization or a group has, so that lists say it without counting.

create table robot_counts (
  -- The id of an organization or of a group.
  id uuid primary key,
  robots int not null,
  constraint robot_counts_robots check (robots >= 0)
);

create function count_robots() returns trigger language plpgsql as $$
declare
  -- Of an inserted row "old" is null, and of a deleted one "new".
  lost uuid[] := case when old.deleted_at is null then array_remove(array[old.owner_id, old.group_id], null) else '{}' end;
  gained uuid[] := case when new.deleted_at is null then array_remove(array[new.owner_id, new.group_id], null) else '{}' end;
begin
  update robot_counts set robots = robots - 1 where id = any(lost) and id <> all(gained);
  insert into robot_counts (id, robots) select id, 1 from unnest(gained) as id where id <> all(lost)
    on conflict (id) do update set robots = robot_counts.robots + 1;
  return null;
end $$;
create trigger robots_counted after insert or delete or update of owner_id, group_id, deleted_at on robots
  for each row execute function count_robots();

insert into robot_counts (id, robots) select owner_id, count(*) from robots where deleted_at is null group by owner_id;
insert into robot_counts (id, robots) select group_id, count(*) from robots where deleted_at is null and group_id is not null group by group_id;

create or replace function leave_group() returns trigger language plpgsql as $$
begin
  delete from robot_counts where id = old.id; -- before its robots leave, which would each change this row
  update organization_members set group_ids = array_remove(group_ids, old.id)
  where organization_id = old.organization_id and group_ids @> array[old.id];
  update organization_invitations set group_ids = array_remove(group_ids, old.id)
  where organization_id = old.organization_id and group_ids @> array[old.id];
  update robots set group_id = null, link_changed_at = now() where group_id = old.id;
  return old;
end $$;

-- A page of the recordings of an operator.
create index recordings_by_operator on recordings (operator_id, started_at desc, id desc);
