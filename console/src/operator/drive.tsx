import { Button } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'

const pathOf = (sessionId: string) => `/dashboard/drive/${sessionId}`

/** Goes to the cockpit of a session. */
export function useDrive() {
  const { history } = useRouter()
  return (sessionId: string) => history.push(pathOf(sessionId))
}

export const DriveButton = ({ sessionId }: { sessionId: string }) => (
  <Button component="a" href={pathOf(sessionId)}>
    Continue driving
  </Button>
)
