// Words around the actual request: grammar, politeness, and the wish itself. Verbs that distinguish a tool from its siblings (list,
// find, create, show, update) are not among them.
const GRAMMAR = `
a an the this that these those there here
i me my mine myself we us our ours you your yours he him his she her hers it its they them their theirs
and or but nor so if then than as because while although though whether
of in on at to for from by with without within into onto about over under between among through during per via upon
is are was were be been being am do does did doing done has have had having
can could will would shall should may might must cannot
not no don doesn didn isn aren wasn weren won wouldn couldn shouldn haven hasn hadn ain
what which who whom whose when where why how
some any each every all both either neither such same other another own
just also too very really quite only even still already ever again else
t s d m ll re ve`

const REQUEST = `
please kindly thanks thank hi hello hey ok okay yes
want wants wanted wanna need needs needed like liked wish hope prefer
help helps assist let lets tell give gives know see
looking going gonna trying able possible use using used
get got getting
provide provides
thing things something anything everything someone anyone
etc eg ie`

/** Words that do not say what a request is about, in lower case and not stemmed. */
export const STOP_WORDS: ReadonlySet<string> = new Set(`${GRAMMAR} ${REQUEST}`.trim().split(/\s+/))
