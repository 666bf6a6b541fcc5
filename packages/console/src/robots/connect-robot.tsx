import { Alert, Stack, Tabs, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { t } from '../texts/texts.ts'
import { CopyableSecret } from '../ui/secret.tsx'
import { ConnectionStatus } from './connection-status.tsx'
import {
  installSdk,
  pythonRobot,
  type RobotAccess,
  realRobot,
  realRobotFile,
  simulatedRobot,
  simulatedRobotFile,
  startSimulatedRobot,
} from './snippets.ts'
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
        title={t('robots.connect.saveToken')}
        ref={notice}
        tabIndex={-1}
        style={{ scrollMarginTop: 140 }}
      >
        {t('robots.connect.saveTokenNote')}
      </Alert>
      <CopyableSecret label={t('robots.connect.token')} value={token} />
      <CopyableSecret label={t('robots.connect.controlUrl')} value={robot.control_url} />
      <Text fw={600}>{t('robots.connect.title')}</Text>
      <Tabs defaultValue="simulated" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="simulated">{t('robots.connect.simulated')}</Tabs.Tab>
          <Tabs.Tab value="real">{t('robots.connect.real')}</Tabs.Tab>
          <Tabs.Tab value="python">{t('robots.connect.python')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="simulated" pt="sm">
          <Stack>
            <Text size="sm">{t('robots.connect.simulatedNote')}</Text>
            <CopyableSecret label={t('robots.connect.install')} value={installSdk(window.location.origin)} />
            <Text size="sm">{t('robots.connect.saveFile')}</Text>
            <CopyableSecret label={simulatedRobotFile} value={simulatedRobot(access)} />
            <CopyableSecret label={t('robots.connect.start')} value={startSimulatedRobot} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="real" pt="sm">
          <Stack>
            <Text size="sm">{t('robots.connect.realNote')}</Text>
            <CopyableSecret label={realRobotFile} value={realRobot(access)} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="python" pt="sm">
          <Stack>
            <Text size="sm">{t('robots.connect.pythonNote')}</Text>
            <CopyableSecret
              label={t('robots.connect.start')}
              value={pythonRobot(window.location.origin, access)}
            />
          </Stack>
        </Tabs.Panel>
      </Tabs>
      <ConnectionStatus robot={robot} />
    </Stack>
  )
}
