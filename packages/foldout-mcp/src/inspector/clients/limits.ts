/** How many steps of one client of a gateway are shown together; then a new part begins. */
export const MAX_CLIENT_STEPS = 5_000

/** How many steps of all clients of a gateway the inspector keeps; those of the client that has been quiet for longest are forgotten first. */
export const MAX_CLIENTS_STEPS = 50_000
