import { Stack } from '@mantine/core'
import { LinkAnchor } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { AvailabilityLine } from './availability-line.tsx'
import { AvailableRobots } from './available-robots.tsx'
import { OpenSession } from './open-session.tsx'

/** Shows the operator's open session, availability and the available robots. */
export function AvailablePage() {
  return (
    <Page title="Available robots" description="Robots that you may drive. Updates live.">
      <Stack>
        <OpenSession />
        <AvailabilityLine>
          <LinkAnchor to="/schedule" underline="always">
            View schedule
          </LinkAnchor>
        </AvailabilityLine>
        <AvailableRobots />
      </Stack>
    </Page>
  )
}
