import { expect, test } from 'vitest'
import { createWorld } from '../../support/world/world.ts'

test('smoke', async () => {
  await using world = await createWorld()
  const rows = await world.platform.core.db.selectFrom('users').select('id').execute()
  expect(rows).toEqual([])
})
