import { LinkAnchor } from '../ui/links.tsx'

/** Renders the name of a user as a link to the page that admins see of the user. */
export const UserLink = ({ id, name }: { id: string; name: string }) => (
  <LinkAnchor to="/admin/users/$userId" params={{ userId: id }} inherit>
    {name}
  </LinkAnchor>
)
