// Prepares a message once, in the memory of its slot.
#include "runtime/collectives/stage_message.h"

#include "runtime/support/failure.h"

namespace mtc::runtime {

StageMessage::StageMessage(const MtcMessage &message, char *arena, Ranks &ranks) : ranks(ranks) {
  Message content;
  for (uint32_t i = 0; i < message.range_count; ++i)
    content.ranges.push_back({arena + message.offsets[i], message.bytes[i]});
  const int other = ranks.rank() + static_cast<int>(message.distance);
  const bool isSent = message.is_sent != 0;
  if (other < 0 || other >= ranks.count())
    systemError("the message of ", message.nodes, " is for rank ", other, " of ", ranks.count(),
                "; compile the program again");
  what = text("message of ", message.nodes, isSent ? " to rank " : " from rank ", other);
  if (isSent)
    sentBytes = content.bytes();
  exchange = ranks.prepareMessage(content, other, isSent, message.channel);
}

void StageMessage::start() {
  exchange->start();
  ranks.countSentToStages(sentBytes);
  running = true;
}

void StageMessage::wait() {
  if (running)
    ranks.wait(*exchange, what);
  running = false;
}

} // namespace mtc::runtime
