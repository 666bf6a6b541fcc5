import { expect, test } from 'vitest'
import { catalog } from '../../../src/core/events/catalog.ts'
import { connectTo } from '../../support/database/sql.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld } from '../../support/world/world.ts'

test('status events that SQL composes match the catalog', async () => {
  await using world = await createWorld()
  await using client = await connectTo(world.platform.core.databaseUrl)
  // The relay removes published rows, so a trigger keeps a copy.
  await client.query(`
    create table copied_events (name text, payload jsonb);
    create function copy_event() returns trigger language plpgsql as $$
    begin insert into copied_events values (new.name, new.payload); return new; end $$;
    create trigger copy_event after insert on outbox for each row execute function copy_event()`)
  const owner = await world.client()
  const robot = await world.robot(owner)
  const connection = await world.connect(robot)
  connection.beat()

  await waitFor(async () => {
    const { rows } = await client.query(`select payload from copied_events where name = 'robots.status'`)
    const robots = rows.flatMap(({ payload }) => catalog['robots.status'].parse(payload).robots)
    expect(robots.map(({ status }) => status)).toContain('AVAILABLE')
    expect(robots.map(({ owner_id }) => owner_id)).toContain(owner.id)
  })
})
