-- How many bytes the recordings and exports of an organization or a user take, so that neither a list nor a recorder adds them up.

create table stored_bytes (
  -- The id of an organization, or of a user who exports for nobody else.
  id uuid primary key,
  bytes bigint not null,
  constraint stored_bytes_bytes check (bytes >= 0)
);

create function count_stored_bytes() returns trigger language plpgsql as $$
declare
  loser uuid;
  gainer uuid;
  lost bigint := 0;
  gained bigint := 0;
begin
  if tg_op <> 'INSERT' then
    lost := old.size_bytes;
    if tg_table_name = 'recordings' then loser := old.client_id; else loser := old.user_id; end if;
  end if;
  if tg_op <> 'DELETE' then
    gained := new.size_bytes;
    if tg_table_name = 'recordings' then gainer := new.client_id; else gainer := new.user_id; end if;
  end if;
  if loser = gainer then
    gained := gained - lost;
    lost := 0;
  end if;
  if lost <> 0 then
    update stored_bytes set bytes = bytes - lost where id = loser;
  end if;
  if gained < 0 then -- the row exists: it has counted more
    update stored_bytes set bytes = bytes + gained where id = gainer;
  elsif gained > 0 then
    insert into stored_bytes (id, bytes) values (gainer, gained)
      on conflict (id) do update set bytes = stored_bytes.bytes + excluded.bytes;
  end if;
  return null;
end $$;
create trigger recordings_stored after insert or delete or update of client_id, size_bytes on recordings
  for each row execute function count_stored_bytes();
create trigger dataset_exports_stored after insert or delete or update of user_id, size_bytes on dataset_exports
  for each row execute function count_stored_bytes();

insert into stored_bytes (id, bytes)
  select id, sum(bytes) from (
    select client_id as id, size_bytes as bytes from recordings
    union all
    select user_id, size_bytes from dataset_exports
  ) as stored group by id having sum(bytes) > 0;
