import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ObserverLink, ticketsOf } from '@wheelhouse/sdk'
import { expect, onTestFinished, test } from 'vitest'
import { waitUntilDriving } from '../../support/browser/cockpit.ts'
import { openConsole } from '../../support/browser/console.ts'
import { createCliUser, endCommands, startCli } from '../../support/cli/terminal.ts'
import { ros1IsMissing, startRos1Robot } from '../../support/ros/ros1.ts'
import { withMedia } from '../../support/video/video-fixture.ts'
import { tolerateLatency } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld } from '../../support/world/world.ts'

interface Sample {
  readonly pose: { readonly x_m: number }
  readonly standing: boolean
}

/** Counts the frames of the large picture that were decoded. */
const DECODED = `document.querySelector('video')?.getVideoPlaybackQuality().totalVideoFrames ?? 0`

test.skipIf((await ros1IsMissing()) !== undefined)(
  'the cockpit drives a robot with ROS 1 by its picture, and stops it',
  async () => {
    await using world = await createWorld({ env: withMedia })
    world.tolerateErrors('The media server did not answer in time')
    await using ros = await startRos1Robot()
    await using browser = await openConsole(world.baseUrl)
    const [owner, operator] = [await world.client(), await world.operator()]
    await operator.post('/api/operator/profile', { headline: 'Steady hands', timezone: 'UTC' })
    const robot = await world.robot(owner, { video_limit_ms: null })
    await tolerateLatency(world, robot.id)
    const user = await createCliUser({ WHEELHOUSE_URL: world.baseUrl })
    onTestFinished(endCommands)
    const file = join(user.configHome, 'robot.yaml')
    await writeFile(file, ros.settings)
    const { body: pairing } = await owner.post(`/api/client/robots/${robot.id}/pairing-code`)
    const agent = startCli(user, ['ros', 'run', file, '--code', pairing.code, '--json'])
    await agent.expectText('ROS is connected')
    const id = await waitFor(async () => {
      const started = await operator.post('/api/sessions', { robotId: robot.id })
      expect(started.status, JSON.stringify(started.body)).toBe(201)
      return started.body.sessionId as string
    })
    let newest: Sample | undefined
    const link = new ObserverLink({
      getTicket: ticketsOf({ baseUrl: world.baseUrl, token: owner.token, sessionId: id, part: 'watch' }),
      onTelemetry: (data) => {
        newest = data as Sample
      },
    })
    await link.connect()
    try {
      const { page } = await browser.enter(operator, `/dashboard/drive/${id}`)
      await waitUntilDriving(page)
      await waitFor(async () => expect(await page.evaluate(DECODED)).toBeGreaterThan(5))
      await page.keyboard.down('ArrowUp')
      await waitFor(() => expect(newest?.pose.x_m).toBeGreaterThan(0.1))
      await page.keyboard.press('Space')
      await waitFor(() => expect(newest?.standing).toBe(true))
      await page.getByTestId('stop-banner').waitFor()
      expect((await operator.get(`/api/sessions/${id}`)).body).toMatchObject({ status: 'PAUSED' })
    } finally {
      await link.close()
      await owner.patch(`/api/sessions/${id}`, { action: 'end' })
      agent.signal('SIGINT')
      await agent.ended
    }
  },
)
