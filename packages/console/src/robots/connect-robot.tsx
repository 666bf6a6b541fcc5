import { Alert, Stack, Tabs, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { CopyableSecret } from '../ui/secret.tsx'
import { ConnectionStatus } from './connection-status.tsx'
import { installSdk, pythonRobot, type RobotAccess, realRobot, simulatedRobot } from './snippets.ts'
import type { Robot } from './use-robots.ts'

/** Shows a new robot token once, code to connect the robot, and the connection status. */
export function ConnectRobot({ robot, token }: { robot: Robot; token: string }) {
  const access: RobotAccess = { control_url: robot.control_url, robot_token: token }
  const notice = useRef<HTMLDivElement>(null)
  // Moves the focus to the notice, so that screen readers read it first.
  useEffect(() => notice.current?.focus(), [])
  return (
    <Stack>
      <Alert
        variant="default"
        title="Save this token now"
        ref={notice}
        tabIndex={-1}
        style={{ scrollMarginTop: 140 }}
      >
        You will not see it again. Anyone with this token can connect as this robot. If you lose it, replace
        it on the robot’s page.
      </Alert>
      <CopyableSecret label="Token" value={token} />
      <CopyableSecret label="Control URL" value={robot.control_url} />
      <Text fw={600}>Connect the robot</Text>
      <Tabs defaultValue="simulated" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="simulated">Simulated</Tabs.Tab>
          <Tabs.Tab value="real">Real robot</Tabs.Tab>
          <Tabs.Tab value="python">Python</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="simulated" pt="sm">
          <Stack>
            <Text size="sm">
              A simulated robot in a small room. Requires Node 22.18 or newer. In a Wheelhouse checkout, skip
              the installation and use npx node instead of node.
            </Text>
            <CopyableSecret label="Install the SDK" value={installSdk(window.location.origin)} />
            <Text size="sm">Save this file in the same folder:</Text>
            <CopyableSecret label="my-robot.ts" value={simulatedRobot(access)} />
            <CopyableSecret label="Start it" value="node my-robot.ts" />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="real" pt="sm">
          <Stack>
            <Text size="sm">
              Starter code for your robot. The link reconnects automatically, ignores late commands and stops
              the robot when the connection is lost. Install the SDK as for a simulated robot.
            </Text>
            <CopyableSecret label="robot.ts" value={realRobot(access)} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="python" pt="sm">
          <Stack>
            <Text size="sm">
              A complete robot in one file. Requires Python 3.9 or newer and the package websockets.
            </Text>
            <CopyableSecret label="Start it" value={pythonRobot(window.location.origin, access)} />
          </Stack>
        </Tabs.Panel>
      </Tabs>
      <ConnectionStatus robot={robot} />
    </Stack>
  )
}
