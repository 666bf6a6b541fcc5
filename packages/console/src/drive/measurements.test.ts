import { expect, test } from 'vitest'
import { createLatencyStats } from './measurements.ts'

test('commands that the gateway holds on purpose are not lost', () => {
  const stats = createLatencyStats()
  for (const reason of ['video_stale', 'video_stale', 'stopped', 'robot_offline'] as const)
    stats.dropped(reason)
  expect(stats.read()).toMatchObject({ held: 3, dropped: 1, lastDrop: 'robot_offline' })
})
