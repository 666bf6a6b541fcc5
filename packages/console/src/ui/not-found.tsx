import { LinkButton } from './links.tsx'
import { Empty } from './states.tsx'

export const NotFound = () => (
  <Empty title="There is no such page" action={<LinkButton to="/">Go home</LinkButton>} />
)
