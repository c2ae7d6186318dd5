// What our own calls to agents carry, so that what an agent keeps of them is never taken for a person's work.

/** A call to an agent works in a folder of this beginning: agents write the folder into their transcripts. */
export const OWN_CALL_FOLDER = 'skillopt-agent-';

/** Stands in the first tag of a prompt whose sections we named, for agents that keep no folder. */
export const OWN_CALL_SENTINEL = 'from="skillopt"';

/** How programs of ours name themselves to agents that note who started them. */
export const OWN_CALL_ORIGINATOR = 'skillopt';
