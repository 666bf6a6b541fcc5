import { Anchor, Button, Card, NavLink } from '@mantine/core'
import { createLink } from '@tanstack/react-router'

/** Mantine's parts as links of the router; `to` and `params` are checked against the routes there are. */
export const LinkAnchor = createLink(Anchor<'a'>)
export const LinkButton = createLink(Button<'a'>)
export const LinkCard = createLink(Card<'a'>)
export const LinkNav = createLink(NavLink<'a'>)
