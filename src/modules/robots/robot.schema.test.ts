import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { readableIssues } from '../../core/errors/errors.ts'
import { parseOptions } from '../../core/http/validation-messages.ts'
import { RegisterRobot, UpdateRobot } from './robot.schema.ts'

/** Returns the problems that a request with this body is answered with. */
function problemsOf(schema: z.ZodType, body: object): string {
  const { error } = schema.safeParse(body, parseOptions)
  return error ? readableIssues(error) : ''
}

describe('a registration', () => {
  const registration = { name: 'Arm', robot_type: 'so-101', hardware_id: 'board' }

  test('needs a name, a type and the id of the hardware only', () => {
    expect(problemsOf(RegisterRobot, registration)).toBe('')
  })

  test.each(['https://cam.example/1', 'rtsp://cam.example/1', 'wss://cam.example/1', ''])(
    'accepts the stream URL %j',
    (stream_url) => expect(problemsOf(RegisterRobot, { ...registration, stream_url })).toBe(''),
  )

  test.each([
    ['name', { name: undefined }],
    ['name', { name: '  ' }],
    ['name', { name: 'a'.repeat(101) }],
    ['name', { name: 'a\0b' }],
    ['name', { name: '\ud800' }],
    ['name', { name: 7 }],
    ['robot_type', { robot_type: undefined }],
    ['robot_type', { robot_type: 'two\nlines' }],
    ['hardware_id', { hardware_id: undefined }],
    ['hardware_id', { hardware_id: '' }],
    ['hardware_id', { hardware_id: 'a'.repeat(201) }],
    ['stream_url', { stream_url: 'javascript:alert(1)' }],
    ['stream_url', { stream_url: null }],
    ['tags', { tags: 'lab' }],
    ['tags.0', { tags: [''] }],
    ['tags', { tags: Array.from({ length: 21 }, (_, index) => `t${index}`) }],
    ['notes', { notes: 'a'.repeat(4_001) }],
    ['notes', { notes: 'a\0' }],
    ['require_certification', { require_certification: 'yes' }],
    ['control_url', { control_url: 'ws://elsewhere.example' }],
    ['id', { id: '00000000-0000-4000-8000-000000000000' }],
    ['owner_id', { owner_id: '00000000-0000-4000-8000-000000000000' }],
    ['status', { status: 'AVAILABLE' }],
    ['stream_url', { stream_url: 'cam.example/1' }],
    ['stream_url', { stream_url: 'file:///etc/passwd' }],
  ])('with a bad %s is refused: %j', (field, change) => {
    expect(problemsOf(RegisterRobot, { ...registration, ...change })).toContain(field)
  })
})

describe('a change of settings', () => {
  test.each([
    ['field', {}],
    ['name', { name: '' }],
    ['robot_type', { robot_type: 'other' }],
    ['hardware_id', { hardware_id: 'other' }],
    ['control_url', { control_url: 'ws://elsewhere.example' }],
    ['status', { status: 'AVAILABLE' }],
    ['total_hours', { total_hours: 9 }],
    ['latency_limit_ms', { latency_limit_ms: 49 }],
    ['latency_limit_ms', { latency_limit_ms: 100.5 }],
    ['latency_budget_ms', { latency_budget_ms: 49 }],
    ['latency_budget_ms', { latency_budget_ms: 10_001 }],
    ['video_limit_ms', { video_limit_ms: 99 }],
    ['video_limit_ms', { video_limit_ms: 60_001 }],
    ['low_battery_threshold', { low_battery_threshold: 1.5 }],
    ['log_event_level', { log_event_level: 'debug' }],
    ['colour', { name: 'fine', colour: 'red' }],
  ])('with a bad %s is refused: %j', (field, change) => {
    expect(problemsOf(UpdateRobot, change)).toContain(field)
  })

  test.each([
    { latency_limit_ms: 50 },
    { latency_budget_ms: 10_000 },
    { video_limit_ms: 100 },
    { low_battery_threshold: 0 },
    { notes: null },
  ])('%j is accepted', (change) => expect(problemsOf(UpdateRobot, change)).toBe(''))
})
