import { LinkButton } from './links.tsx'
import { Empty } from './states.tsx'

export const NotFound = () => (
  <Empty title="Page not found" action={<LinkButton to="/">Go home</LinkButton>} />
)
