import { Stack } from '@mantine/core'
import { LinkAnchor } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { AvailabilityLine } from './availability-line.tsx'
import { OpenSession } from './open-session.tsx'
import { AvailableRobots } from './robots.tsx'

/** Where an operator begins: the session they are in, whether they are available, and the robots there are. */
export function AvailablePage() {
  return (
    <Page
      title="Available robots"
      description="Those that you may drive: of your types, and those that require no certification. The list changes by itself."
    >
      <Stack>
        <OpenSession />
        <AvailabilityLine>
          <LinkAnchor to="/schedule" underline="always">
            Your weekly schedule
          </LinkAnchor>
        </AvailabilityLine>
        <AvailableRobots />
      </Stack>
    </Page>
  )
}
