import type { PolicyDomain, TaskTool } from './data.ts'

const tool = (name: string, description: string, ...fields: readonly string[]): TaskTool => ({
  name,
  description,
  write: true,
  parameters: {
    type: 'object',
    properties: Object.fromEntries(
      fields.map((field) => [field, { type: 'string', description: `The ${field.replaceAll('_', ' ')}.` }]),
    ),
    required: [...fields],
  },
})

const RULES = [
  [
    'Membership',
    'A card is valid for a year and is renewed at the desk or online. Children under 14 get a junior card with a parent. A lost card costs 4 euros and is blocked at once. Members who owe more than 15 euros can read in the hall but borrow nothing.',
  ],
  [
    'Borrowing',
    'Up to 20 books, 6 films and 4 games can be borrowed at a time: books for four weeks, films and games for one. Reference works, newspapers and the local archive stay in the house. A novel in the bestseller shelf is borrowed for two weeks and cannot be renewed.',
  ],
  [
    'Renewing',
    'A loan is renewed twice at most, and not if another reader has reserved the title. Renew before the due date: a loan that is overdue is renewed only after its fee is paid.',
  ],
  [
    'Reserving',
    'A title that is lent out can be reserved. It waits at the desk for eight days after the message; then the next reader gets it. Reservations are free for juniors and cost 1 euro for others. Up to five reservations can be open.',
  ],
  [
    'Fees',
    'Each day after the due date costs 20 cents for a book and 50 cents for a film or a game, at most 10 euros a title. After six weeks a title counts as lost: the reader pays its price and 5 euros of work. Fees are waived once a year, on request, up to 5 euros.',
  ],
  [
    'Rooms',
    'Study rooms are booked for two hours, twice a day, up to a week ahead. The music room needs an introduction. A reader who is 15 minutes late loses the booking. Food stays outside; water is fine.',
  ],
  [
    'Interlibrary loans',
    'What the house does not have is ordered from other libraries for 3 euros, and takes one to three weeks. The lending library decides whether it may leave the reading hall.',
  ],
  [
    'Gifts',
    'The library takes books that are younger than five years and in good condition, at most 20 at a time. What it cannot use is sold at the spring market.',
  ],
] as const

const ASKED: readonly (readonly [said: string, tools: readonly string[]])[] = [
  ['My library card is lost. Can you block it and send me a new one?', ['find_reader', 'replace_card']],
  ['I would like to keep the novel I borrowed for another two weeks.', ['find_reader', 'list_loans', 'renew_loan']],
  ['Please reserve the new crime novel by Sjöberg for me when it comes back.', ['search_titles', 'reserve_title']],
  ['I got a letter about overdue fees for two films. Can you waive them?', ['find_reader', 'list_fees', 'waive_fee']],
  ['Can I book a study room for tomorrow from two to four?', ['list_rooms', 'book_room']],
  ['You do not have this atlas. Could you order it from another library?', ['search_titles', 'order_elsewhere']],
  ['My son is ten and wants his own reader card for books and games.', ['find_reader', 'create_card']],
  ['The book that I returned yesterday is still among my loans.', ['find_reader', 'list_loans', 'return_title']],
  ['I have thirty old books at home that I would like to give you.', ['find_reader']],
  ['Cancel my reservation of the film, and renew the three books.', ['list_loans', 'cancel_reservation', 'renew_loan']],
]

const TOWNS =
  'Ashford Birkdale Corby Dunmore Eastleigh Fairmont Glenrock Harwich Ilford Jarrow Kelso Ludlow Marlow Norwood Oakham Penrith Quorn Ripley Selby Tarbert Ulverston Verwood Wexcombe Yarrow Alston Bexley Colne Dorking Epsom Frome Girvan Hexham Ilkley Kendal Leek Morpeth Nairn Olney'

/** The branches, each with its hours, rooms and peculiarities, as such policies list them. */
const BRANCHES = TOWNS.split(' ').map((town, at) => {
  const opens = 8 + (at % 3)
  const closes = 17 + (at % 4)
  const rooms = 1 + (at % 6)
  return `### ${town}\n\nOpen from ${opens} to ${closes} on weekdays${at % 2 === 0 ? `, and from 10 to ${13 + (at % 4)} on Saturdays` : ', closed on weekends'}. ${rooms} study rooms for up to ${2 + (at % 5)} people, booked at the desk of the branch; the keys are returned half an hour before closing. Films and games are lent ${at % 3 === 0 ? 'only at the main desk' : 'at the machine in the hall'}. Returns go into the box at the ${at % 2 === 0 ? 'main' : 'side'} entrance at any hour, and count as returned on the next working day. Reservations wait on shelf ${at + 1}. The van of the other libraries comes on ${['Mondays', 'Tuesdays', 'Thursdays', 'Fridays'][at % 4]}, so orders placed after noon on the day before leave a week later. The branch answers calls between ${opens + 1} and ${closes - 1}, and letters within ${2 + (at % 3)} working days.`
})

/** A desk of the project's own, about as long as the longest policy of the public task sets. */
export const ownDesk: PolicyDomain = {
  policy: [
    `# Library desk\n\nYou answer the readers of a public library.\n\n${RULES.map(([title, text]) => `## ${title}\n\n${text}`).join('\n\n')}\n\n## Branches\n\n${BRANCHES.join('\n\n')}`,
  ],
  tools: [
    tool('find_reader', 'Finds a reader by name and card number.', 'name', 'card'),
    tool('list_loans', 'Lists what a reader has borrowed, with due dates.', 'reader_id'),
    tool('renew_loan', 'Renews a loan.', 'reader_id', 'copy_id'),
    tool('return_title', 'Takes a copy back.', 'copy_id'),
    tool('search_titles', 'Searches the catalog of the library.', 'words'),
    tool('reserve_title', 'Reserves a title for a reader.', 'reader_id', 'title_id'),
    tool('cancel_reservation', 'Cancels a reservation.', 'reservation_id'),
    tool('list_fees', 'Lists what a reader owes.', 'reader_id'),
    tool('waive_fee', 'Waives a fee.', 'fee_id', 'reason'),
    tool('list_rooms', 'Lists the rooms that are free.', 'day'),
    tool('book_room', 'Books a room.', 'room', 'day', 'from'),
    tool('order_elsewhere', 'Orders a title from another library.', 'reader_id', 'title'),
    tool('create_card', 'Creates a reader card.', 'name', 'birthday'),
    tool('replace_card', 'Blocks a card and creates a new one.', 'reader_id'),
  ],
  tasks: ASKED.map(([said, tools], at) => ({
    id: `library-${at + 1}`,
    said,
    actions: tools.map((name) => [1, name, 15, 80] as const),
  })),
}
