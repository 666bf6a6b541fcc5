import { expect, test } from 'vitest'
import { createTestDatabase } from '../database/database.ts'
import { serviceUrl } from './service-url.ts'

test('a unit test that wants a database or Redis fails with advice', async () => {
  await expect(createTestDatabase()).rejects.toThrow('Unit tests run without PostgreSQL and Redis. Move')
  expect(() => serviceUrl('redisUrl')).toThrow('Unit tests run without PostgreSQL and Redis. Move')
})
