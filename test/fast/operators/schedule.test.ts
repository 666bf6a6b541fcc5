import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const SCHEDULE = '/api/operator/schedule'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const slot = (weekday: number, start: string, end: string) => ({ weekday, start, end })
const save = (operator: TestUser, slots: unknown, timezone: unknown = 'UTC') =>
  operator.post(SCHEDULE, { timezone, slots })

describe('GET /api/operator/schedule: before the operator saves a schedule', () => {
  test('has no slots, and the time zone of the profile or UTC', async () => {
    const operator = await world.operator()
    expect(await operator.get(SCHEDULE)).toMatchObject({ status: 200, body: { timezone: 'UTC', slots: [] } })
    await operator.post('/api/operator/profile', { timezone: 'Asia/Tokyo' })
    expect((await operator.get(SCHEDULE)).body).toEqual({ timezone: 'Asia/Tokyo', slots: [] })
  })
})

describe('POST /api/operator/schedule: replaces the schedule', () => {
  test('and returns the slots in order', async () => {
    const operator = await world.operator()
    const week = [slot(5, '18:30', '24:00'), slot(1, '13:00', '17:00'), slot(1, '09:00', '12:00')]
    const reply = await save(operator, week, 'Europe/Berlin')
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({
      timezone: 'Europe/Berlin',
      slots: [slot(1, '09:00', '12:00'), slot(1, '13:00', '17:00'), slot(5, '18:30', '24:00')],
    })
    expect((await operator.get(SCHEDULE)).body).toEqual(reply.body)

    await save(operator, [slot(7, '00:00', '24:00')], 'UTC')
    expect((await operator.get(SCHEDULE)).body).toEqual({
      timezone: 'UTC',
      slots: [slot(7, '00:00', '24:00')],
    })
    await save(operator, [])
    expect((await operator.get(SCHEDULE)).body).toEqual({ timezone: 'UTC', slots: [] })
  })

  test('in the time zone of the profile by default; later profile changes do not affect it', async () => {
    const operator = await world.operator()
    const slots = [slot(1, '09:00', '12:00')]
    const without = await operator.post(SCHEDULE, { slots })
    expect(without).toMatchObject({ status: 400, body: { error: expect.stringContaining('timezone') } })

    await operator.post('/api/operator/profile', { timezone: 'Asia/Tokyo' })
    expect((await operator.post(SCHEDULE, { slots })).body).toEqual({ timezone: 'Asia/Tokyo', slots })
    await operator.post('/api/operator/profile', { timezone: 'Europe/Paris' })
    expect((await operator.get(SCHEDULE)).body.timezone).toBe('Asia/Tokyo')
  })

  test('with adjacent slots on one day and across midnight', async () => {
    const operator = await world.operator()
    const touching = [slot(1, '09:00', '12:00'), slot(1, '12:00', '24:00'), slot(2, '00:00', '06:00')]
    expect(await save(operator, touching)).toMatchObject({ status: 200, body: { slots: touching } })
  })

  test('atomically: of two concurrent requests, one schedule is stored', async () => {
    const operator = await world.operator()
    const weeks = Array.from({ length: 10 }, (_, index) => ({
      timezone: index % 2 ? 'Asia/Tokyo' : 'Europe/Paris',
      slots: [1, 2, 3].map((day) => slot(day, `0${index}:00`, '23:00')),
    }))
    const replies = await Promise.all(weeks.map((week) => operator.post(SCHEDULE, week)))
    expect(replies.map((reply) => reply.status)).toEqual(Array(10).fill(200))
    expect(weeks).toContainEqual((await operator.get(SCHEDULE)).body)
  })

  test('of the signed-in operator only', async () => {
    const [operator, secondOperator] = [await world.operator(), await world.operator()]
    await save(operator, [slot(1, '09:00', '12:00')])
    expect((await secondOperator.get(SCHEDULE)).body.slots).toEqual([])
  })
})

describe('POST /api/operator/schedule: rejects', () => {
  test.each([
    ['an end before its start', [slot(1, '22:00', '06:00')]],
    ['an empty slot', [slot(1, '09:00', '09:00')]],
  ])('%s, and explains how to cross midnight', async (_what, slots) => {
    const { status, body } = await save(await world.operator(), slots)
    expect(status).toBe(400)
    for (const expectedText of ['slots.0', 'midnight', 'Split it in two', '24:00', '00:00']) {
      expect(body.error).toContain(expectedText)
    }
  })

  test('overlaps, and the error names both slots', async () => {
    const operator = await world.operator()
    const week = [slot(3, '11:59', '13:00'), slot(2, '10:00', '11:00'), slot(3, '09:00', '12:00')]
    expect(await save(operator, week)).toMatchObject({
      status: 400,
      body: { error: 'slots: Wednesday 09:00–12:00 and 11:59–13:00 overlap' },
    })
    const enclosed = [slot(3, '09:00', '17:00'), slot(3, '10:00', '11:00')]
    expect((await save(operator, enclosed)).body.error).toContain('Wednesday 09:00–17:00 and 10:00–11:00')
    const twice = [slot(3, '09:00', '17:00'), slot(3, '09:00', '17:00')]
    expect((await save(operator, twice)).status).toBe(400)
  })

  test.each([
    ['slots.0.weekday', { slots: [slot(0, '09:00', '10:00')] }],
    ['slots.0.weekday', { slots: [slot(8, '09:00', '10:00')] }],
    ['slots.0.weekday', { slots: [slot(1.5, '09:00', '10:00')] }],
    ['slots.0.start', { slots: [slot(1, '9:00', '10:00')] }],
    ['slots.0.start', { slots: [slot(1, '24:00', '24:00')] }],
    ['slots.0.start', { slots: [slot(1, '09:60', '10:00')] }],
    ['slots.0.end', { slots: [slot(1, '09:00', '24:01')] }],
    ['slots.0.end', { slots: [slot(1, '09:00', '10:00:00')] }],
    ['slots', { slots: Array.from({ length: 51 }, () => slot(1, '09:00', '10:00')) }],
    ['slots', {}],
    ['slots', { slots: null }],
    ['day', { slots: [{ ...slot(1, '09:00', '10:00'), day: 1 }] }],
    ['timezone', { timezone: 'Mars/Olympus', slots: [] }],
    ['timezone', { timezone: null, slots: [] }],
    ['operator_id', { slots: [], operator_id: 'x' }],
  ])('%s in %j, and keeps the previous schedule', async (field, body) => {
    const operator = await world.operator()
    const { body: before } = await save(operator, [slot(1, '09:00', '12:00')])
    const reply = await operator.post(SCHEDULE, { timezone: 'UTC', ...body })
    expect(reply).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) } })
    expect((await operator.get(SCHEDULE)).body).toEqual(before)
  })

  test('no schedule of fifty slots', async () => {
    const fifty = Array.from({ length: 50 }, (_, index) =>
      slot((index % 7) + 1, `${10 + Math.floor(index / 7)}:00`, `${10 + Math.floor(index / 7)}:30`),
    )
    expect((await save(await world.operator(), fifty)).body.slots).toHaveLength(50)
  })
})
