import { Anchor, Card, Stack, Text } from '@mantine/core'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { Time } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { AdminPage, PAGE_SIZE, PagesView, usePages } from './admin-page.tsx'

/** Lists requests for robot types that the platform does not support yet. */
export const RobotRequestsPage = () => (
  <AdminPage title={t('admin.robotRequests.title')} description={t('admin.robotRequests.description')}>
    <Requests />
  </AdminPage>
)

function Requests() {
  const { rest } = usePlatform()
  const query = usePages([...keys.inbox, 'robot-requests'], async (before, signal) => {
    const params = { query: { limit: PAGE_SIZE, before } }
    return (await answerOf(rest.GET('/api/admin/robot-requests', { params, signal }))).robot_requests
  })
  return (
    <PagesView query={query} empty={t('admin.robotRequests.emptyTitle')}>
      {(requests) => (
        <Stack component="ul" gap="sm" m={0} p={0} style={{ listStyle: 'none' }}>
          {requests.map((request) => (
            <li key={request.id}>
              <RequestCard request={request} />
            </li>
          ))}
        </Stack>
      )}
    </PagesView>
  )
}

const RequestCard = ({ request }: { request: Schemas['RobotRequest'] }) => (
  <Card withBorder padding="sm" component="article" aria-label={request.robot_type}>
    <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
      {request.robot_type}
    </Text>
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      {request.name && `${request.name}, `}
      <Anchor href={`mailto:${encodeURIComponent(request.email)}`}>{request.email}</Anchor>
    </Text>
    <Text size="sm" c="dimmed">
      <Time at={request.created_at} />
    </Text>
    {request.details && (
      <Text mt="xs" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {request.details}
      </Text>
    )}
  </Card>
)
