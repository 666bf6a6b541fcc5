import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { answerOf } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { Page } from '../ui/page.tsx'
import { QueryView } from '../ui/states.tsx'
import { VideoView } from '../video/video-view.tsx'

/** The operator's cockpit. */
export function DrivePage() {
  const { sessionId: id } = useParams({ from: '/shell/drive/$sessionId' })
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.sessions, id],
    queryFn: () => answerOf(rest.GET('/api/sessions/{id}', { params: { path: { id } } })),
  })
  return (
    <QueryView query={query}>
      {(session) => (
        <Page title={`Drive ${session.robot_name}`}>
          <VideoView url={session.stream_url} title={`Camera of ${session.robot_name}`} />
        </Page>
      )}
    </QueryView>
  )
}
